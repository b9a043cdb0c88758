package io.lendstream.actuator.standby;

import org.apache.kafka.clients.producer.Producer;

/** Whether this instance is the active one of its actuator. Safe for many threads. */
public interface Active {
    /** An actuator without standby instances, which is always active. */
    Active ALONE = new Active() {
        @Override
        public boolean mayStart() {
            return true;
        }

        @Override
        public boolean isFenced() {
            return false;
        }

        @Override
        public void fence(Producer<byte[], byte[]> transaction) {
            // No other instance writes.
        }
    };

    /** An instance on standby. */
    Active STANDBY = new Active() {
        @Override
        public boolean mayStart() {
            return false;
        }

        @Override
        public boolean isFenced() {
            return true;
        }

        @Override
        public void fence(Producer<byte[], byte[]> transaction) {
            throw new IllegalStateException("an instance on standby writes nothing");
        }
    };

    /**
     * Whether no other instance can be active now, so that this one may start a tenant. If not, it still takes GPUs
     * back.
     */
    boolean mayStart();

    /** Whether transactions are fenced, so that all records must be written in transactions. */
    boolean isFenced();

    /** Adds to an open transaction what makes it fail if another instance has become active. */
    void fence(Producer<byte[], byte[]> transaction);
}

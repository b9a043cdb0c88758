package io.lendstream.actuator;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.service.kafka.RecordReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

/** How an actuator gets what it reads, and hands over what it writes. All calls come from the actuator's own thread. */
interface RecordTransport extends AutoCloseable {
    /** Hands what is read to the actuator. */
    interface Routes {
        /**
         * Names the topics to a reader that is not started yet.
         *
         * @param to runs the actuator's methods, in the order of the records
         */
        void on(RecordReader reader, Executor to);

        /** Everything that was on the topics at the start has been handed over. */
        void joined(List<ActuationReport> reportsSince);
    }

    /**
     * Begins to read where a state left off, and waits until everything is read that is there.
     *
     * @param stopped whether to give up
     */
    void start(ActuatorState state, Routes routes, BooleanSupplier stopped);

    /** Hands over what has arrived, waiting that long for a first record. */
    void poll(Duration patience);

    /** Takes reports over; they are sent once {@link #release} is called. */
    void publish(List<ActuationReport> reports);

    void publish(TrainingProgress progress);

    /** Whatever was published is on disk, or cannot be: it may be sent. */
    void release();

    /** Why nothing can be read or written now; empty when all is well. */
    Optional<String> trouble();

    /** The next decision to read, by {@code topic-partition}, after all that has been handed over. */
    Map<String, Long> decisions();

    /** What has been published and is not known to be on the topic. */
    ReportOutbox.Contents unsent();

    /** The name under which it writes, to be kept over a restart; empty where it need not be. */
    Optional<String> writer();

    /**
     * Sends what can still be sent.
     *
     * @return false if something is left
     */
    boolean finish(Duration patience);

    @Override
    void close();
}

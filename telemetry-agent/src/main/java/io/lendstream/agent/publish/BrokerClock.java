package io.lendstream.agent.publish;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.Callback;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures the difference between the broker's clock and this machine's. With {@code
 * message.timestamp.type=LogAppendTime} the broker stamps a record between its sending and its acknowledgement; a
 * time outside that interval is skew. Other topics show none.
 */
final class BrokerClock {
    private static final Logger LOG = LoggerFactory.getLogger(BrokerClock.class);
    private static final long TOLERATED_MILLIS = 1000;

    private final AtomicLong skewMillis = new AtomicLong();

    BrokerClock(MeterRegistry metrics) {
        metrics.gauge("lendstream.clock.skew.seconds", skewMillis, millis -> millis.get() / 1000.0);
    }

    /** Examines the acknowledgement of a record that is sent now. */
    Callback listen() {
        long sent = System.currentTimeMillis();
        return (written, failure) -> {
            if (failure == null && written != null && written.hasTimestamp()) {
                take(sent, written.timestamp(), System.currentTimeMillis());
            }
        };
    }

    void take(long sent, long stamped, long answered) {
        long skew = stamped < sent ? stamped - sent : Math.max(0, stamped - answered);
        long before = skewMillis.getAndSet(skew);
        if (Math.abs(skew) > TOLERATED_MILLIS && Math.abs(before) <= TOLERATED_MILLIS) {
            LOG.warn(
                    "the broker's clock is {} ms {} this machine's, more than {} ms. Synchronize both by NTP: records get their time on this machine.",
                    Math.abs(skew),
                    skew > 0 ? "ahead of" : "behind",
                    TOLERATED_MILLIS);
        }
    }

    double skewSeconds() {
        return skewMillis.get() / 1000.0;
    }
}

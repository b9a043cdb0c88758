package io.lendstream.service.kafka;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs that a service waits for a broker: at once, then once a minute, and when the wait is over. Not for several
 * threads.
 */
public final class BrokerWait {
    private static final Logger LOG = LoggerFactory.getLogger(BrokerWait.class);
    private static final Duration BETWEEN_LINES = Duration.ofMinutes(1);

    private final String where;
    private long since;
    private long saidAt;
    private boolean waits;

    /** @param where the broker's address, for the log */
    public BrokerWait(String where) {
        this.where = where;
    }

    /** True while it waits. */
    public boolean isOn() {
        return waits;
    }

    /** Another try has failed. */
    public void goesOn(String why) {
        long now = System.nanoTime();
        if (!waits) {
            waits = true;
            since = now;
            saidAt = now;
            LOG.warn("waiting for the broker at {}: {}", where, why);
        } else if (now - saidAt >= BETWEEN_LINES.toNanos()) {
            saidAt = now;
            LOG.warn("still waiting for the broker at {}, for {} s: {}", where, seconds(now), why);
        }
    }

    /** The broker answers. */
    public void over() {
        if (waits) {
            waits = false;
            LOG.info("the broker at {} answers, after {} s", where, seconds(System.nanoTime()));
        }
    }

    private long seconds(long now) {
        return Duration.ofNanos(now - since).toSeconds();
    }
}

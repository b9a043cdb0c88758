package io.lendstream.service.kafka;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs that a service waits for a broker: at once, then every 30 seconds, and at the end. Not thread-safe. */
public final class BrokerWait {
    private static final Logger LOG = LoggerFactory.getLogger(BrokerWait.class);
    private static final Duration BETWEEN_LINES = Duration.ofSeconds(30);

    private final String where;
    private long since;
    private long loggedAt;
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
            log(now, why);
        } else if (now - loggedAt >= BETWEEN_LINES.toNanos()) {
            log(now, why);
        }
    }

    private void log(long now, String why) {
        loggedAt = now;
        LOG.warn("waiting for the broker at {} ({} s so far; kafka.bootstrap.servers): {}", where, seconds(now), why);
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

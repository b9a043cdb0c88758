package io.lendstream.agent;

import io.lendstream.service.Stop;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Does something again and again, at moments a period apart, until it is told to stop; a moment that has passed is left out. */
final class FixedRateLoop {
    private static final Logger LOG = LoggerFactory.getLogger(FixedRateLoop.class);

    private static final long SHORTEST_NANOS = 1_000_000;

    private FixedRateLoop() {}

    /**
     * Works until it is told to stop. A failure is said, and the next moment comes.
     *
     * @param work says when it wants to go on, where that is sooner than after a period
     */
    static void run(Duration period, Stop stop, Supplier<Optional<Duration>> work) {
        long next = System.nanoTime();
        while (!stop.isRequested()) {
            Optional<Duration> sooner = Optional.empty();
            try {
                sooner = work.get();
            } catch (RuntimeException e) {
                LOG.error("the agent goes on, though something failed", e);
            }
            long now = System.nanoTime();
            while (next <= now) {
                next += period.toNanos();
            }
            long wait = Math.min(next - now, sooner.map(Duration::toNanos).orElse(Long.MAX_VALUE));
            stop.waitFor(Duration.ofNanos(Math.max(SHORTEST_NANOS, wait)));
        }
    }
}

package io.lendstream.agent;

import io.lendstream.service.Stop;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Repeats work at a fixed period until it is stopped; a missed moment is skipped. */
final class FixedRateLoop {
    private static final Logger LOG = LoggerFactory.getLogger(FixedRateLoop.class);

    private static final long SHORTEST_NANOS = 1_000_000;

    private FixedRateLoop() {}

    /**
     * Runs until it is stopped. A failure is logged, and the work is repeated at the next moment.
     *
     * @param work returns the time of its next run, if that is before the next period
     */
    static void run(Duration period, Stop stop, Supplier<Optional<Duration>> work) {
        long next = System.nanoTime();
        while (!stop.isRequested()) {
            Optional<Duration> sooner = Optional.empty();
            try {
                sooner = work.get();
            } catch (RuntimeException e) {
                LOG.error("a sample failed; the agent continues", e);
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

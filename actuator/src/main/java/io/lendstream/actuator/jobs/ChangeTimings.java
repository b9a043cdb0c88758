package io.lendstream.actuator.jobs;

import java.time.Duration;
import java.util.Optional;

/**
 * The cost of a change, as measured on this node.
 *
 * @param sinceAsked from the request of the change to the report
 * @param pause end of the last step before the change to end of the first step after it, less a median step; empty
 *     without step reports
 */
public record ChangeTimings(Duration sinceAsked, Optional<Duration> pause) {
    /** Timings without a pause; both times are of {@link System#nanoTime}. */
    static ChangeTimings between(long askedNanos, long nowNanos) {
        return between(askedNanos, nowNanos, Optional.empty());
    }

    static ChangeTimings between(long askedNanos, long nowNanos, Optional<Duration> pause) {
        return new ChangeTimings(Duration.ofNanos(Math.max(0, nowNanos - askedNanos)), pause);
    }
}

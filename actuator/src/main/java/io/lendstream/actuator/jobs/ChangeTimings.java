package io.lendstream.actuator.jobs;

import java.time.Duration;
import java.util.Optional;

/**
 * What a change cost, as measured on this node.
 *
 * @param sinceAsked from the change being asked for to what is reported
 * @param pause end of the last step before to end of the first completed step after, less a median step; where steps are
 *     reported
 */
public record ChangeTimings(Duration sinceAsked, Optional<Duration> pause) {
    /** Without a pause; both times are of {@link System#nanoTime}. */
    static ChangeTimings between(long askedNanos, long nowNanos) {
        return between(askedNanos, nowNanos, Optional.empty());
    }

    static ChangeTimings between(long askedNanos, long nowNanos, Optional<Duration> pause) {
        return new ChangeTimings(Duration.ofNanos(Math.max(0, nowNanos - askedNanos)), pause);
    }
}

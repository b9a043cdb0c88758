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
    static ChangeTimings since(long askedNanos) {
        return new ChangeTimings(Duration.ofNanos(Math.max(0, System.nanoTime() - askedNanos)), Optional.empty());
    }
}

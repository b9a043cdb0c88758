package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import java.time.Duration;
import java.util.Optional;

/**
 * How long a replica takes to answer.
 *
 * @param cold from the decision that starts it
 * @param cached the same on nodes where the service has a replica already, so that its model is there; if empty, as
 *     cold
 * @param asleep from the decision that wakes it; if empty, at once
 */
public record StartTimes(Duration cold, Optional<Duration> cached, Optional<Duration> asleep) {
    public StartTimes {
        Checks.notNegative("cold", cold);
        cached.ifPresent(time -> Checks.notNegative("cached", time));
        asleep.ifPresent(time -> Checks.notNegative("asleep", time));
    }

    /**
     * The longest time from a decision to a replica that answers, from sleep too.
     *
     * @param longestCold the longest time from the decision that starts it
     * @param isCached whether its model is on every node where it could start
     */
    public Duration longest(Duration longestCold, boolean isCached) {
        Duration start = isCached ? cached.orElse(longestCold) : longestCold;
        Duration wake = asleep.orElse(Duration.ZERO);
        return start.compareTo(wake) >= 0 ? start : wake;
    }

    /** Twice the time that a replica takes to wake; zero if it answers at once. */
    public Duration twiceAsleep() {
        return asleep.orElse(Duration.ZERO).multipliedBy(2);
    }

    /** Whether it says more than the time from a decision that starts a replica anywhere. */
    boolean saysMore() {
        return cached.isPresent() || takesTimeToWake();
    }

    boolean takesTimeToWake() {
        return asleep.isPresent() && !asleep.get().isZero();
    }

    /** A replica that wakes at once. */
    public static StartTimes of(Duration cold) {
        return new StartTimes(cold, Optional.empty(), Optional.empty());
    }
}

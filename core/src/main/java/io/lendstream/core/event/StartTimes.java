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
        Checks.atLeast("cold in milliseconds", 0, Limits.millis(cold));
        cached.ifPresent(time -> Checks.atLeast("cached in milliseconds", 0, Limits.millis(time)));
        asleep.ifPresent(time -> Checks.atLeast("asleep in milliseconds", 0, Limits.millis(time)));
    }

    /** A replica that wakes at once. */
    public static StartTimes of(Duration cold) {
        return new StartTimes(cold, Optional.empty(), Optional.empty());
    }
}

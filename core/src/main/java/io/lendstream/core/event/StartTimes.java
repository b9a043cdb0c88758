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

    /** A replica that wakes at once. */
    public static StartTimes of(Duration cold) {
        return new StartTimes(cold, Optional.empty(), Optional.empty());
    }
}

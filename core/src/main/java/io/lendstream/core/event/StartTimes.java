package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import java.time.Duration;
import java.util.Optional;

/**
 * How long a replica takes to answer.
 *
 * @param cold from the decision that starts it
 * @param asleep from the decision that wakes it; if empty, at once
 */
public record StartTimes(Duration cold, Optional<Duration> asleep) {
    public StartTimes {
        Checks.atLeast("cold in milliseconds", 0, Limits.millis(cold));
        asleep.ifPresent(time -> Checks.atLeast("asleep in milliseconds", 0, Limits.millis(time)));
    }

    /** A replica that wakes at once. */
    public static StartTimes of(Duration cold) {
        return new StartTimes(cold, Optional.empty());
    }
}

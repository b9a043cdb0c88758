package io.lendstream.core.scheduler;

import java.time.Duration;

/**
 * What the scheduler makes of the users of GPUs that agents report.
 *
 * @param heeded whether a GPU that others use is never given to a tenant. Logs of older versions lack this setting
 * @param goneAfter how long agents have to report a GPU as unused until it is free; more than 0
 */
public record UserRules(boolean heeded, Duration goneAfter) {
    /** Users are shown only. */
    public static final UserRules SHOWN = new UserRules(false, Duration.ofMinutes(2));

    public UserRules {
        if (goneAfter.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new IllegalArgumentException(
                    "scheduler.foreign-gone-after must be at least 1s, but was " + goneAfter);
        }
    }
}

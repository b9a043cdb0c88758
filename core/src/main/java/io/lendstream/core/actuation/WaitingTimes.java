package io.lendstream.core.actuation;

import java.time.Duration;

/** How long an actuation waits for its driver. */
final class WaitingTimes {
    /** How long a kill may take before it is ordered again. */
    static final Duration KILL_AGAIN = Duration.ofSeconds(10);
    /** How long after its deadline a decision is given up that is not in force. */
    static final Duration PATIENCE = Duration.ofMinutes(5);
    /** Grace period after a restart for drivers to confirm running tenants. */
    static final Duration RETURN = Duration.ofMinutes(5);

    private WaitingTimes() {}
}

package io.lendstream.core.simulated;

import java.time.Duration;

/**
 * The simulated times of the parts of a change, and its failures.
 *
 * @param release until nothing of the tenant runs on the GPUs that it leaves
 * @param bind from then until the tenant runs on the GPUs that it gets
 * @param ready from the start until the whole change is in force
 */
public record ChangeTiming(Duration release, Duration bind, Duration ready, FailureMode failure) {
    /** The change takes no time. */
    public static final ChangeTiming AT_ONCE =
            new ChangeTiming(Duration.ZERO, Duration.ZERO, Duration.ZERO, FailureMode.NONE);

    public ChangeTiming {
        for (Duration part : new Duration[] {release, bind, ready}) {
            if (part.isNegative()) {
                throw new IllegalArgumentException("the parts of a change must take at least 0 s, but were %s, %s, %s"
                        .formatted(release, bind, ready));
            }
        }
    }

    /** What goes wrong. */
    public enum FailureMode {
        NONE,
        /** The tenant does not leave by itself and is killed at the deadline. */
        STUCK_RELEASE,
        /** The tenant does not come up on the GPUs that it gets. */
        BIND_FAILS
    }
}

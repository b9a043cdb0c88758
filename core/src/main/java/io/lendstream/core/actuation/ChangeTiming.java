package io.lendstream.core.actuation;

import java.time.Duration;

/**
 * How long the parts of a change take in simulation, or who carries it out instead.
 *
 * @param release until nothing of the tenant runs on the GPUs that it leaves
 * @param bind from then until the tenant runs on the GPUs that it gets
 * @param ready from the start until the whole change is in force
 */
public record ChangeTiming(Duration release, Duration bind, Duration ready, FailureMode trouble) {
    /** The change takes no time. */
    public static final ChangeTiming AT_ONCE =
            new ChangeTiming(Duration.ZERO, Duration.ZERO, Duration.ZERO, FailureMode.NONE);

    /** A driver carries the change out and reports each step. */
    public static final ChangeTiming DRIVEN =
            new ChangeTiming(Duration.ZERO, Duration.ZERO, Duration.ZERO, FailureMode.DRIVEN);
    /** No driver here can do it, so the decision is refused. */
    public static final ChangeTiming NONE =
            new ChangeTiming(Duration.ZERO, Duration.ZERO, Duration.ZERO, FailureMode.NO_DRIVER);

    public ChangeTiming {
        for (Duration part : new Duration[] {release, bind, ready}) {
            if (part.isNegative()) {
                throw new IllegalArgumentException("the parts of a course must take at least 0 s, but were %s, %s, %s"
                        .formatted(release, bind, ready));
            }
        }
    }

    boolean isDriven() {
        return trouble == FailureMode.DRIVEN;
    }

    boolean isUnsupported() {
        return trouble == FailureMode.NO_DRIVER;
    }

    /** What goes wrong in simulation, or why there is no timing. */
    public enum FailureMode {
        NONE,
        /** The tenant does not leave by itself and is killed at the deadline. */
        STUCK_RELEASE,
        /** The tenant does not come up on the GPUs that it gets. */
        BIND_FAILS,
        /** All goes well, but is not reported. */
        UNREPORTED,
        /** A driver reports what goes wrong. */
        DRIVEN,
        /** No driver can do it. */
        NO_DRIVER
    }
}

package io.lendstream.core.actuation;

import java.time.Duration;

/**
 * How a change of a tenant goes, in time.
 *
 * @param release until nothing of the tenant runs on the GPUs that it leaves
 * @param bind from then until the tenant runs on the GPUs that it gets
 * @param ready from the beginning until the whole of it is in force
 */
public record ChangeTiming(Duration release, Duration bind, Duration ready, FailureMode trouble) {
    /** Done the moment it is begun. */
    public static final ChangeTiming AT_ONCE =
            new ChangeTiming(Duration.ZERO, Duration.ZERO, Duration.ZERO, FailureMode.NONE);

    /** Nobody knows beforehand: a driver is ordered to do it, and tells. */
    public static final ChangeTiming DRIVEN =
            new ChangeTiming(Duration.ZERO, Duration.ZERO, Duration.ZERO, FailureMode.DRIVEN);
    /** No driver here can do it. */
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

    /** What goes wrong, or is not known. */
    public enum FailureMode {
        NONE,
        /** The tenant does not leave by itself and is killed at the deadline. */
        STUCK_RELEASE,
        /** The tenant does not come up on the GPUs that it gets. */
        BIND_FAILS,
        /** All goes well, but nobody hears of it. */
        UNREPORTED,
        /** What goes wrong will be seen. */
        DRIVEN,
        /** It is not even tried. */
        NO_DRIVER
    }
}

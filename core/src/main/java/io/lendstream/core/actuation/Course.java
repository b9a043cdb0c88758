package io.lendstream.core.actuation;

import java.time.Duration;

/**
 * How an undertaking goes.
 *
 * @param release until nothing of the tenant runs on the GPUs that it leaves
 * @param bind from then until the tenant runs on the GPUs that it gets
 * @param ready from the beginning until the whole of it is in force
 */
public record Course(Duration release, Duration bind, Duration ready, Trouble trouble) {
    /** Done the moment it is begun. */
    public static final Course AT_ONCE = new Course(Duration.ZERO, Duration.ZERO, Duration.ZERO, Trouble.NONE);

    /** Nobody knows beforehand: a driver is ordered to do it, and tells. */
    public static final Course DRIVEN = new Course(Duration.ZERO, Duration.ZERO, Duration.ZERO, Trouble.DRIVEN);
    /** No driver here can do it. */
    public static final Course NONE = new Course(Duration.ZERO, Duration.ZERO, Duration.ZERO, Trouble.NO_DRIVER);

    public Course {
        for (Duration part : new Duration[] {release, bind, ready}) {
            if (part.isNegative()) {
                throw new IllegalArgumentException("the parts of a course must take at least 0 s, but were %s, %s, %s"
                        .formatted(release, bind, ready));
            }
        }
    }

    boolean isDriven() {
        return trouble == Trouble.DRIVEN;
    }

    /** What goes wrong, or is not known. */
    public enum Trouble {
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

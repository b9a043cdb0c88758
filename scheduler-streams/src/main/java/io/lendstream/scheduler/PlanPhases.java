package io.lendstream.scheduler;

import java.time.Duration;

/**
 * When in a period each of several domains plans, so that what happens in one of them does not wait for the plans of all: spread
 * evenly over the period however many they turn out to be (the sequence of van der Corput: 0, 1/2, 1/4, 3/4, 1/8, …).
 */
final class PlanPhases {
    private final Duration period;
    private int taken;

    PlanPhases(Duration period) {
        this.period = period;
    }

    /** Of the next domain: at least nothing, and less than the period. */
    Duration next() {
        double share = (Integer.reverse(taken++) >>> 1) / 0x1p31;
        return Duration.ofMillis((long) (share * period.toMillis()));
    }
}

package io.lendstream.scheduler;

import java.time.Duration;

/**
 * Spreads the planning times of several domains over a period. Events of one domain then do not wait for the plans of
 * all. The phases are evenly spread for any number of domains (van der Corput sequence: 0, 1/2, 1/4, 3/4, 1/8, …).
 */
final class PlanPhases {
    private final Duration period;
    private int taken;

    PlanPhases(Duration period) {
        this.period = period;
    }

    /** Phase of the next domain: at least zero, less than the period. */
    Duration next() {
        double share = (Integer.reverse(taken++) >>> 1) / 0x1p31;
        return Duration.ofMillis((long) (share * period.toMillis()));
    }
}

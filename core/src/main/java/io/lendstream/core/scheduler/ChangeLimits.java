package io.lendstream.core.scheduler;

import java.time.Duration;

/**
 * The limits of changes by plans: their number, rate and times, which bound the effect of a mistake. They never delay a
 * reclaim for inference.
 *
 * @param maxShareLent greatest share of inference GPUs that may be lent at a time; a fraction
 * @param maxLoansPerMinute most GPUs newly lent in a minute; where plans are rarer, so many for each minute between two
 *     plans
 * @param maxTransfers most GPUs that may be on their way to training or back at a time; {@link TransferPace} lowers it
 *     while a service misses its SLO
 * @param minHold for how long no plan changes a job that was changed
 * @param quietWindows when no plans are made
 * @param trust what counts for the levels of trust
 * @param slo what a service gets that misses its SLO
 */
public record ChangeLimits(
        double maxShareLent,
        int maxLoansPerMinute,
        int maxTransfers,
        Duration minHold,
        QuietWindows quietWindows,
        TrustRules trust,
        SloRules slo) {
    public static final ChangeLimits DEFAULTS = new ChangeLimits(1.0, 1000, 1000, Duration.ZERO, QuietWindows.NONE);

    /** Limits of domains that begin at the highest level of trust. */
    public ChangeLimits(
            double maxShareLent, int maxLoansPerMinute, int maxTransfers, Duration minHold, QuietWindows quietWindows) {
        this(maxShareLent, maxLoansPerMinute, maxTransfers, minHold, quietWindows, TrustRules.DEFAULTS);
    }

    /** Limits of domains in which a missed SLO has no effect on replicas. */
    public ChangeLimits(
            double maxShareLent,
            int maxLoansPerMinute,
            int maxTransfers,
            Duration minHold,
            QuietWindows quietWindows,
            TrustRules trust) {
        this(maxShareLent, maxLoansPerMinute, maxTransfers, minHold, quietWindows, trust, SloRules.OFF);
    }

    public ChangeLimits {
        if (!(maxShareLent >= 0 && maxShareLent <= 1)) {
            throw new IllegalArgumentException(
                    "scheduler.max-share-lent must lie between 0 and 1, but was " + maxShareLent);
        }
        if (maxLoansPerMinute < 0) {
            throw new IllegalArgumentException(
                    "scheduler.max-loans-per-minute must be at least 0, but was " + maxLoansPerMinute);
        }
        if (maxTransfers < 1) {
            throw new IllegalArgumentException(
                    "scheduler.max-transfers must be at least 1, but was %d. Set scheduler.lending=false to lend nothing."
                            .formatted(maxTransfers));
        }
        if (minHold.isNegative()) {
            throw new IllegalArgumentException("scheduler.min-hold must be at least 0s, but was " + minHold);
        }
    }

    /** The same limits with other rules for services whose requests are late. */
    public ChangeLimits with(SloRules other) {
        return new ChangeLimits(maxShareLent, maxLoansPerMinute, maxTransfers, minHold, quietWindows, trust, other);
    }
}

package io.lendstream.core.demand;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.Limits;
import java.time.Duration;
import java.time.Instant;

/**
 * How much expected demand a policy keeps GPUs ready for: a newsvendor's choice. A GPU that is kept for demand which
 * comes with probability {@code p} costs one GPU-second each second. Without it, requests at the mean rate {@code r}
 * wait, each for the time {@code w} in which a replica starts: with probability {@code p} that costs
 * {@code price * r * w} each second. So the GPU is worth keeping while {@code p > 1 / (price * r * w)}. A service with
 * many requests is ready for the p99 of its forecast at any usual price; one with a request an hour is not.
 *
 * @param waitPrice GPU-seconds that one second of one request's wait is worth: 0 if forecasts do not count, infinite if
 *     the p99 always counts
 * @see <a href="https://doi.org/10.2307/1907780">Arrow, Harris, Marschak: Optimal Inventory Policy, 1951</a>
 */
public record Outlook(double waitPrice) {
    /** Forecasts do not count. */
    public static final Outlook PRESENT = new Outlook(0);
    /** The p99 of forecasts counts for every service. */
    public static final Outlook CERTAIN = new Outlook(Double.POSITIVE_INFINITY);

    /** The least and the greatest risk that quantiles of a forecast are known for. */
    private static final double LEAST_RISK = 0.01;

    private static final double SMALL_RISK = 0.1;
    private static final double EVEN_RISK = 0.5;
    private static final double GREATEST_RISK = 0.9;

    public Outlook {
        if (!(waitPrice >= 0)) {
            throw new IllegalArgumentException("wait-price must be at least 0, but was " + waitPrice);
        }
    }

    /** Whether forecasts count at all. */
    public boolean looksAhead() {
        return waitPrice > 0;
    }

    /** The demand to be ready for, and when it is expected. */
    record Expected(double perSecond, Instant at) {}

    /**
     * The greatest demand to be ready for within a time, in requests per second; of several horizons with that value
     * the first counts.
     *
     * @param wait for how long a request waits where no replica is ready
     */
    Expected peak(DemandForecast forecast, Duration within, Duration wait) {
        double greatest = -1;
        Instant when = forecast.issuedAt();
        for (HorizonQuantiles at : forecast.horizons()) {
            double level = level(at, risk(at, wait));
            if (level > greatest) {
                greatest = level;
                when = forecast.issuedAt().plus(at.horizon());
            }
            if (at.horizon().compareTo(within) >= 0) {
                break;
            }
        }
        return new Expected(greatest, when);
    }

    /** The probability with which demand may exceed what is kept ready. */
    private double risk(HorizonQuantiles at, Duration wait) {
        return 1 / (waitPrice * mean(at) * Limits.millis(wait) / 1000.0);
    }

    /** The demand that is exceeded with a probability, in requests per second: linear in its logarithm. */
    private static double level(HorizonQuantiles at, double risk) {
        if (risk <= LEAST_RISK) {
            return at.p99();
        }
        if (risk <= SMALL_RISK) {
            return between(at.p90(), at.p99(), Math.log(SMALL_RISK / risk) / Math.log(SMALL_RISK / LEAST_RISK));
        }
        if (risk <= EVEN_RISK) {
            return between(at.p50(), at.p90(), Math.log(EVEN_RISK / risk) / Math.log(EVEN_RISK / SMALL_RISK));
        }
        return risk <= GREATEST_RISK
                ? between(at.p10(), at.p50(), (GREATEST_RISK - risk) / (GREATEST_RISK - EVEN_RISK))
                : 0;
    }

    private static double between(double low, double high, double share) {
        return low + share * (high - low);
    }

    /** The mean of a demand by its quantiles, between which it is taken to be uniform. */
    private static double mean(HorizonQuantiles at) {
        return SMALL_RISK * at.p10()
                + (EVEN_RISK - SMALL_RISK) * (at.p10() + at.p50()) / 2
                + (EVEN_RISK - SMALL_RISK) * (at.p50() + at.p90()) / 2
                + (SMALL_RISK - LEAST_RISK) * (at.p90() + at.p99()) / 2
                + LEAST_RISK * at.p99();
    }
}

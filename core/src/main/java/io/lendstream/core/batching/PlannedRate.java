package io.lendstream.core.batching;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import java.time.Duration;
import org.hipparchus.distribution.continuous.NormalDistribution;

/**
 * The rate of a service that instances are planned for, in requests per second. It is a high quantile of the forecast,
 * no less than the present rate and no more than a limit above it: a forecast of a multiple is seldom right, and
 * expensive if wrong. If the recent peak is above that limit, the peak is the limit, because it may come again.
 *
 * <p>{@code max(now, min(quantile, max(most x now, recent peak)))}
 *
 * @param quantile from 0.9 to 0.99; between these two a forecast's quantiles are taken to lie as a normal
 *     distribution's
 * @param most multiple of the present rate; at least 1
 */
public record PlannedRate(double quantile, double most) {
    public static final PlannedRate DEFAULT = new PlannedRate(.95, 1.3);

    private static final NormalDistribution NORMAL = new NormalDistribution();
    private static final double LOW = .9;
    private static final double HIGH = .99;

    public PlannedRate {
        if (!(quantile >= LOW && quantile <= HIGH)) {
            throw new IllegalArgumentException("quantile must be from 0.9 to 0.99, but is %s".formatted(quantile));
        }
        if (!(most >= 1)) {
            throw new IllegalArgumentException(
                    "most must be at least 1 times the present rate, but is %s".formatted(most));
        }
    }

    /**
     * What to plan for.
     *
     * @param ahead how long the plan is to last: the highest forecast until then counts
     * @param present requests per second now; at least 0
     * @param recentPeak requests per second; at least 0
     */
    public double of(DemandForecast forecast, Duration ahead, double present, double recentPeak) {
        double limit = Math.max(most * present, recentPeak);
        return Math.max(present, Math.min(limit, forecast.peakWithin(ahead, this::of)));
    }

    private double of(HorizonQuantiles forecast) {
        double low = NORMAL.inverseCumulativeProbability(LOW);
        double high = NORMAL.inverseCumulativeProbability(HIGH);
        double share = (NORMAL.inverseCumulativeProbability(quantile) - low) / (high - low);
        return forecast.p90() + share * (forecast.p99() - forecast.p90());
    }
}

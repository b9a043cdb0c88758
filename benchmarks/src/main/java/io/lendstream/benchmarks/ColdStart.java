package io.lendstream.benchmarks;

import io.lendstream.simulator.forecasting.Evaluation;
import io.lendstream.simulator.forecasting.RateSeries;
import java.time.Duration;
import java.util.List;

/**
 * The accuracy of forecasts with little history: the second and fourth day of a series. It is the error of our model
 * relative to a moving average that was tuned on all earlier data.
 */
final class ColdStart {
    private static final String OURS = "lendstream";
    private static final String AVERAGE = "ewma";

    private ColdStart() {}

    /**
     * Geometric mean over horizons of the ratio of both MAEs, for forecasts made within one day.
     *
     * @param daysKnown days of history before it
     */
    static double overMovingAverage(RateSeries series, List<Duration> horizons, int daysKnown) {
        int day = (int) (Duration.ofDays(1).toMillis() / series.step().toMillis());
        var evaluation = new Evaluation(series.first((daysKnown + 1) * day), horizons, daysKnown * day);
        var ours = evaluation.run(OURS, (origin, target, said) -> {}, share -> {});
        var average = evaluation.run(AVERAGE, (origin, target, said) -> {}, share -> {});
        double logs = 0;
        for (int i = 0; i < ours.size(); i++) {
            logs += Math.log(
                    ours.get(i).errors().mae() / average.get(i).errors().mae());
        }
        return Math.exp(logs / ours.size());
    }
}

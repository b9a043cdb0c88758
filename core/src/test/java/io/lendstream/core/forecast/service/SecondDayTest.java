package io.lendstream.core.forecast.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.forecast.ForecastSettings;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What a model does with one day of history that says nothing of the next. */
class SecondDayTest {
    private static final Duration STEP = Duration.ofMinutes(10);
    private static final int DAY = 144;
    private static final List<Duration> HORIZONS = List.of(Duration.ofMinutes(30), Duration.ofMinutes(60));

    @Test
    void isNotLedByWhatItsFirstHoursHappenedToShow() {
        double ours = 0;
        double last = 0;
        for (long seed = 0; seed < 10; seed++) {
            double[] series = wandering(seed);
            ours += error("lendstream", series);
            last += error("persistence", series);
        }

        assertThat(ours / last).isLessThan(1.05);
    }

    /** Two days of demand around 100 that goes where it likes and comes back within hours. */
    private static double[] wandering(long seed) {
        var random = new SplittableRandom(seed);
        double[] series = new double[2 * DAY];
        double level = 0;
        for (int step = 0; step < series.length; step++) {
            level = 0.95 * level + 0.15 * (random.doubles(12).sum() - 6);
            series[step] = 100 * Math.exp(level);
        }
        return series;
    }

    /** Mean absolute error on the second day, over the horizons. */
    private static double error(String name, double[] series) {
        var model = Models.create(new ForecastSettings(name, STEP, HORIZONS));
        double sum = 0;
        int count = 0;
        for (int step = 0; step < series.length; step++) {
            model.observe(step, series[step]);
            var said = model.forecast();
            for (int i = 0; i < HORIZONS.size(); i++) {
                int target = step + (int) HORIZONS.get(i).dividedBy(STEP);
                if (step >= DAY && target < series.length) {
                    sum += Math.abs(said.get(i).p50() - series[target]);
                    count++;
                }
            }
        }
        return sum / count;
    }
}

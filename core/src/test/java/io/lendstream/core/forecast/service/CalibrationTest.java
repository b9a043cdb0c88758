package io.lendstream.core.forecast.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.forecast.ForecastSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Quantiles keep their promise on series whose noise is known; bounds are about three standard errors wide. */
class CalibrationTest {
    private static final int DAY = 288;
    private static final ForecastSettings FIVE_MINUTES = new ForecastSettings(
            "lendstream",
            Duration.ofMinutes(5),
            List.of(Duration.ofMinutes(5), Duration.ofMinutes(15), Duration.ofMinutes(60)));

    @ParameterizedTest
    @ValueSource(
            strings = {
                "persistence",
                "ewma",
                "seasonal-naive",
                "holt-winters",
                "harmonic-ar",
                "median3",
                "select",
                "lendstream"
            })
    void coversWhatItPromisesOnADailyWaveWithNoise(String model) {
        var score = score(model, 14 * DAY, 3 * DAY, CalibrationTest::wave);

        for (int horizon = 0; horizon < 3; horizon++) {
            assertThat(score.coverage90(horizon)).as("p90 at %d", horizon).isBetween(0.88, 0.92);
            assertThat(score.coverage99(horizon)).as("p99 at %d", horizon).isBetween(0.98, 0.997);
            assertThat(score.coverage10(horizon)).as("p10 at %d", horizon).isBetween(0.07, 0.13);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void keepsItsPromiseThroughSuddenChangesOfLevel(long seed) {
        var random = new SplittableRandom(seed);
        double[] level = {100};

        var score = score("lendstream", 14 * DAY, DAY, step -> {
            if (random.nextDouble() < 1.0 / 100) {
                level[0] = 20 + 300 * random.nextDouble();
            }
            return level[0] * Math.exp(0.1 * random.nextGaussian());
        });

        for (int horizon = 0; horizon < 3; horizon++) {
            assertThat(score.coverage90(horizon)).as("p90 at %d", horizon).isBetween(0.87, 0.93);
            assertThat(score.coverage99(horizon)).as("p99 at %d", horizon).isBetween(0.975, 0.997);
        }
    }

    @Test
    void hasNoErrorToTellOfOnceDemandHasLongEnded() {
        var model = Models.create(new ForecastSettings(
                "persistence", Duration.ofMinutes(5), List.of(Duration.ofMinutes(5), Duration.ofMinutes(60))));
        for (int step = 0; step < 300; step++) {
            model.observe(step, 10 + step % 3);
        }
        assertThat(model.recentError())
                .hasValueSatisfying(error -> assertThat(error).isBetween(0.01, 0.5));

        for (int step = 300; step < 160_000; step++) {
            model.observe(step, 0);
            assertThat(model.recentError().filter(error -> error.isInfinite())).isEmpty();
        }

        assertThat(model.recentError()).isEmpty();
    }

    @Test
    void isWideBeforeItKnowsAndNarrowsAsItLearns() {
        var model = Models.create(FIVE_MINUTES);
        model.observe(0, 10);
        var first = model.forecast().get(0);
        for (int step = 1; step < 500; step++) {
            model.observe(step, 10);
        }
        var learned = model.forecast().get(0);

        assertThat(first.p50()).isBetween(9.9, 10.1);
        assertThat(first.p99()).isBetween(20.0, 30.0);
        // The first guess is logistic around the median: as p99 is 4.6 scales above it, p10 is 2.2 below.
        assertThat(first.p10()).isBetween(4.0, 6.0);
        assertThat(learned.p99()).isBetween(10.0, 10.1);
        assertThat(model.recentError())
                .hasValueSatisfying(error -> assertThat(error).isLessThan(0.001));
        assertThat(learned.recent()).isPresent();
    }

    @Test
    void seesTheMorningComingOnceItHasSeenOne() {
        var model = Models.create(FIVE_MINUTES);
        for (int step = 0; step < 4 * DAY + 72; step++) {
            model.observe(step, wave(step));
        }
        // six in the morning: demand grows by 30 % within the hour
        double now = mean(4 * DAY + 71);
        double inAnHour = mean(4 * DAY + 83);

        assertThat(inAnHour / now).isGreaterThan(1.25);
        assertThat(model.forecast().get(2).p50()).isBetween(0.9 * inAnHour, 1.1 * inAnHour);
    }

    private static double mean(int step) {
        return 100 * Math.exp(1.1 * -Math.cos(2 * Math.PI * step / DAY));
    }

    private static double wave(int step) {
        return mean(step) * Math.exp(0.15 * new SplittableRandom(step).nextGaussian());
    }

    private static Score score(String name, int steps, int from, IntToDoubleFunction series) {
        var model = Models.create(new ForecastSettings(name, FIVE_MINUTES.step(), FIVE_MINUTES.horizons()));
        int[] horizons = FIVE_MINUTES.horizonSteps();
        List<List<HorizonQuantiles>> made = new ArrayList<>();
        var score = new Score(horizons.length);
        for (int step = 0; step < steps; step++) {
            double actual = series.applyAsDouble(step);
            for (int horizon = 0; step >= from && horizon < horizons.length; horizon++) {
                score.count(horizon, made.get(step - horizons[horizon]).get(horizon), actual);
            }
            model.observe(step, actual);
            made.add(model.forecast());
        }
        return score;
    }

    /** For each horizon: forecasts, and how many times demand stayed under p10, p90 and p99. */
    private static final class Score {
        private final int[][] counts;

        Score(int horizons) {
            counts = new int[horizons][4];
        }

        void count(int horizon, HorizonQuantiles forecast, double actual) {
            int[] row = counts[horizon];
            row[0]++;
            row[1] += actual <= forecast.p10() ? 1 : 0;
            row[2] += actual <= forecast.p90() ? 1 : 0;
            row[3] += actual <= forecast.p99() ? 1 : 0;
        }

        double coverage10(int horizon) {
            return (double) counts[horizon][1] / counts[horizon][0];
        }

        double coverage90(int horizon) {
            return (double) counts[horizon][2] / counts[horizon][0];
        }

        double coverage99(int horizon) {
            return (double) counts[horizon][3] / counts[horizon][0];
        }
    }
}

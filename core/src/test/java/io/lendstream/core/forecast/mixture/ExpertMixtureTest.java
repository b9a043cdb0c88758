package io.lendstream.core.forecast.mixture;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.service.Models;
import io.lendstream.core.seeds.RandomValues;
import io.lendstream.core.seeds.Seeds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What our own model promises beside calibration. */
class ExpertMixtureTest {
    private static final int DAY = 288;
    private static final List<Duration> HORIZONS =
            List.of(Duration.ofMinutes(5), Duration.ofMinutes(15), Duration.ofMinutes(60));
    private static final int HOUR_AHEAD = 2;

    @Seeds(40)
    void whatItSaidDoesNotDependOnWhatCameLater(RandomValues values) {
        List<Integer> series = values.listOf(2, 400, () -> values.intBetween(-1, 50));
        List<Integer> other = values.listOf(2, 400, () -> values.intBetween(-1, 50));
        int same = Math.min(values.intBetween(1, 399), Math.min(series.size(), other.size()));
        List<Integer> changed = new ArrayList<>(series.subList(0, same));
        changed.addAll(other.subList(same, other.size()));

        assertThat(forecasts("lendstream", values(changed)).subList(0, same))
                .isEqualTo(forecasts("lendstream", values(series)).subList(0, same));
    }

    @Test
    void equalInputGivesEqualForecasts() {
        assertThat(forecasts("lendstream", wave(3, 1, 0.2))).isEqualTo(forecasts("lendstream", wave(3, 1, 0.2)));
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.05, 0.1})
    void aShiftToThreeTimesTheLevelIsFollowedWithinThreeWindows(double noise) {
        double[] usual = wave(7, 1, noise);
        double[] shifted = usual.clone();
        int at = 6 * DAY + DAY / 3;
        for (int step = at; step < shifted.length; step++) {
            shifted[step] *= 3;
        }

        var said = forecasts("lendstream", shifted);

        for (int horizon = 0; horizon < HORIZONS.size(); horizon++) {
            double expected = 0;
            double came = 0;
            for (int step = at + 2; step < at + 8; step++) {
                expected += said.get(step).get(horizon).p50();
                came += shifted[step + steps(horizon)];
            }
            assertThat(expected / came).as("at %s", HORIZONS.get(horizon)).isBetween(0.8, 1.2);
        }
    }

    @Test
    void aSingleOutlierDoesNotMoveTheNextDay() {
        double[] usual = wave(8, 1, 0.1);
        double[] withOutlier = usual.clone();
        int at = 6 * DAY + DAY / 3;
        withOutlier[at] *= 20;

        var said = forecasts("lendstream", withOutlier);
        var without = forecasts("lendstream", usual);

        for (int step = at + DAY - DAY / 12; step < at + DAY + DAY / 12; step++) {
            for (int horizon = 0; horizon < HORIZONS.size(); horizon++) {
                assertThat(said.get(step).get(horizon).p50()
                                / without.get(step).get(horizon).p50())
                        .as("step %d at %s", step - at, HORIZONS.get(horizon))
                        .isBetween(0.95, 1.05);
            }
        }
    }

    @Test
    void afterADayItIsNoWorseThanAMovingAverageAndAfterThreeFarBetter() {
        double ours = 0;
        double oursLater = 0;
        double average = 0;
        double averageLater = 0;
        for (long seed = 0; seed < 5; seed++) {
            double[] series = wave(5, seed, 0.2);
            ours += error("lendstream", series, DAY, 2 * DAY);
            average += error("ewma", series, DAY, 2 * DAY);
            oursLater += error("lendstream", series, 3 * DAY, 4 * DAY);
            averageLater += error("ewma", series, 3 * DAY, 4 * DAY);
        }

        assertThat(ours).isLessThan(average);
        assertThat(oursLater).isLessThan(0.85 * averageLater);
    }

    @Test
    void goesOnThroughMissingWindows() {
        double[] series = wave(7, 2, 0.1);
        double[] gaps = series.clone();
        Arrays.fill(gaps, 5 * DAY, 5 * DAY + DAY / 2, Double.NaN);
        for (int step = 0; step < gaps.length; step += 7) {
            gaps[step] = Double.NaN;
        }

        assertThat(error("lendstream", gaps, 6 * DAY, 7 * DAY))
                .isLessThan(1.2 * error("lendstream", series, 6 * DAY, 7 * DAY));
    }

    @Test
    void lowCountsGetABandThatHoldsThemFromTheFirstDay() {
        var random = new SplittableRandom(5);
        double[] counts = new double[2 * DAY];
        for (int step = 0; step < counts.length; step++) {
            counts[step] = poisson(random, 2) / 300.0;
        }

        var said = forecasts("lendstream", counts);

        double covered = 0;
        for (int step = 10; step < counts.length; step++) {
            covered += counts[step] <= said.get(step - 1).get(0).p99() ? 1 : 0;
        }
        assertThat(covered / (counts.length - 10)).isBetween(0.97, 1.0);
    }

    private static int poisson(SplittableRandom random, double mean) {
        int count = -1;
        for (double left = 1; left > Math.exp(-mean); left *= random.nextDouble()) {
            count++;
        }
        return count;
    }

    /** Mean absolute error an hour ahead over some origins. */
    private static double error(String model, double[] series, int from, int to) {
        var said = forecasts(model, series);
        double sum = 0;
        int count = 0;
        for (int step = from; step < to && step + steps(HOUR_AHEAD) < series.length; step++) {
            double actual = series[step + steps(HOUR_AHEAD)];
            if (!Double.isNaN(actual)) {
                sum += Math.abs(said.get(step).get(HOUR_AHEAD).p50() - actual);
                count++;
            }
        }
        return sum / count;
    }

    private static int steps(int horizon) {
        return (int) HORIZONS.get(horizon).dividedBy(Duration.ofMinutes(5));
    }

    private static double[] values(List<Integer> series) {
        return series.stream().mapToDouble(each -> each < 0 ? Double.NaN : each).toArray();
    }

    /** Days of demand around 100 that is five times as high at noon as at midnight. */
    private static double[] wave(int days, long seed, double noise) {
        var random = new SplittableRandom(seed);
        double[] series = new double[days * DAY];
        for (int step = 0; step < series.length; step++) {
            series[step] = 100 * Math.exp(0.8 * -Math.cos(2 * Math.PI * step / DAY) + noise * random.nextGaussian());
        }
        return series;
    }

    /** The forecast after each step; none for steps before the first demand. */
    private static List<List<HorizonQuantiles>> forecasts(String name, double... series) {
        var model = Models.create(new ForecastSettings(name, Duration.ofMinutes(5), HORIZONS));
        List<List<HorizonQuantiles>> said = new ArrayList<>();
        for (int step = 0; step < series.length; step++) {
            if (Double.isNaN(series[step])) {
                model.miss(step);
            } else {
                model.observe(step, series[step]);
            }
            said.add(model.forecast());
        }
        return said;
    }
}

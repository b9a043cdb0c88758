package io.lendstream.core.forecast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.RecentCoverage;
import io.lendstream.core.forecast.service.Models;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CoverageTest {
    private static final List<Duration> HORIZONS =
            List.of(Duration.ofMinutes(5), Duration.ofMinutes(15), Duration.ofHours(1));

    private final Coverage coverage = new Coverage();

    @Test
    void givesTheSharesOfTheWindowsSeenAndTheirNumber() {
        assertThat(coverage.recent()).isEmpty();

        coverage.learn(true, true);
        coverage.learn(false, true);
        coverage.learn(false, false);
        coverage.learn(true, true);

        assertThat(coverage.recent()).hasValueSatisfying(recent -> {
            assertThat(recent.p90()).isCloseTo(0.5, within(0.001));
            assertThat(recent.p99()).isCloseTo(0.75, within(0.001));
            assertThat(recent.forecasts()).isEqualTo(4);
        });
    }

    @Test
    void forgetsWhatWasLongAgo() {
        for (int i = 0; i < 10_000; i++) {
            coverage.learn(false, false);
        }
        for (int i = 0; i < 1000; i++) {
            coverage.learn(true, true);
        }

        // of the former a share of 1/e is left
        assertThat(coverage.recent()).hasValueSatisfying(recent -> {
            assertThat(recent.p99()).isCloseTo(1 - Math.exp(-1), within(0.001));
            assertThat(recent.forecasts()).isEqualTo(1000);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"lendstream", "ewma"})
    void eachHorizonTellsHowItsOwnForecastsHeld(String name) {
        var settings = new ForecastSettings(name, Duration.ofMinutes(5), HORIZONS);
        var model = Models.create(settings);
        var random = new SplittableRandom(7);
        int[] ahead = settings.horizonSteps();
        List<List<HorizonQuantiles>> made = new ArrayList<>();
        double[][] counts = new double[ahead.length][3];
        // restless for the last two days, so that horizons differ from each other and from their promise
        for (int step = 0; step < 10 * 288; step++) {
            double noise = step < 8 * 288 ? 0.1 : 0.5;
            double actual = 100 * Math.exp(noise * random.nextGaussian() - Math.cos(2 * Math.PI * step / 288));
            for (int i = 0; i < ahead.length; i++) {
                if (step >= ahead[i]) {
                    count(counts[i], made.get(step - ahead[i]).get(i), actual);
                }
            }
            model.observe(step, actual);
            made.add(model.forecast());
        }

        for (int i = 0; i < ahead.length; i++) {
            double[] counted = counts[i];
            RecentCoverage told = model.forecast().get(i).recent().orElseThrow();
            // forecasts are kept to within 0.1 %, which may decide now and then
            assertThat(told.p90()).as("p90 at %d", i).isCloseTo(counted[1] / counted[0], within(0.003));
            assertThat(told.p99()).as("p99 at %d", i).isCloseTo(counted[2] / counted[0], within(0.003));
            assertThat(told.forecasts()).isEqualTo(Math.round(counted[0]));
        }
    }

    private static void count(double[] counts, HorizonQuantiles said, double actual) {
        double[] newest = {1, actual <= said.p90() ? 1 : 0, actual <= said.p99() ? 1 : 0};
        for (int i = 0; i < counts.length; i++) {
            counts[i] = 0.999 * counts[i] + newest[i];
        }
    }
}

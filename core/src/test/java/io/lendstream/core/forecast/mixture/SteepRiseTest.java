package io.lendstream.core.forecast.mixture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.forecast.ForecastSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** p99 is higher where demand can only pass it by rising steeply, and lower where it could without. */
class SteepRiseTest {
    private static final double FORECAST = 100;
    private static final double SIZE = 10;

    private final Spread spread = new Spread(
            1440,
            1 / 60.0,
            1,
            new ErrorsOfDay(
                    new ForecastSettings("lendstream", Duration.ofMinutes(1), List.of(Duration.ofMinutes(1))), 1));
    private final SplittableRandom random = new SplittableRandom(5);
    private long step;

    @Test
    void p99IsFartherFromWhereOnlyASteepRiseCanPassIt() {
        learn(5000);

        double calm = farOf(FORECAST + 40);
        double usual = farOf(FORECAST);
        double steep = farOf(FORECAST - 40);

        // nine in ten rises are less than 18, and p99 is some 23 above the forecast
        assertThat(calm).isLessThan(usual).isLessThan(0.8 * steep);
        assertThat(usual).isLessThan(steep);
    }

    /** Of forecasts whose p99 is as far wherever demand is now, one steep rise in ten passes it. */
    @Test
    void nineteenOfTwentySteepestRisesStayBelowIt() {
        learn(3000);
        List<Rise> rises = learn(20_000);

        rises.sort(Comparator.comparingDouble(Rise::by).reversed());
        List<Rise> steepest = rises.subList(0, rises.size() / 10);

        assertThat(share(steepest)).isLessThan(0.05);
        assertThat(share(rises)).isBetween(0.007, 0.013);
    }

    private record Rise(double by, boolean passed) {}

    private static double share(List<Rise> rises) {
        return (double) rises.stream().filter(Rise::passed).count() / rises.size();
    }

    @Test
    void whereDemandNeverRisesThereIsNothingToTellApart() {
        for (int i = 0; i < 3000; i++) {
            spread.learn(step++, FORECAST - i % 7, FORECAST, SIZE, FORECAST, FORECAST, around(FORECAST));
        }

        assertThat(spread.around(FORECAST, SIZE, FORECAST).p99()).isGreaterThanOrEqualTo(FORECAST);
        assertThat(spread.around(FORECAST, 0, FORECAST).p99()).isCloseTo(FORECAST, within(1e-9));
    }

    /** Demand around the forecast, before and after. */
    private List<Rise> learn(int steps) {
        List<Rise> rises = new ArrayList<>();
        for (int i = 0; i < steps; i++) {
            double before = FORECAST + SIZE * random.nextGaussian();
            double actual = FORECAST + SIZE * random.nextGaussian();
            Spread.Quantiles said = around(before);
            spread.learn(step++, actual, FORECAST, SIZE, FORECAST, before, said);
            rises.add(new Rise(actual - before, actual > said.p99()));
        }
        return rises;
    }

    private Spread.Quantiles around(double now) {
        return spread.around(FORECAST, SIZE, now);
    }

    /** By how much p99 is above the forecast where demand is so high now. */
    private double farOf(double now) {
        return around(now).p99() - FORECAST;
    }
}

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

/** What takes weeks to learn. Steps of half an hour, around 100 a step, higher at noon than at midnight. */
class LongTimesTest {
    private static final int DAY = 48;
    private static final int WEEK = 7 * DAY;
    private static final double SECONDS = 1800;
    private static final List<Duration> HORIZONS = List.of(Duration.ofHours(1), Duration.ofHours(24));
    private static final int[] AHEAD = {2, DAY};
    private static final int HOUR = 0;
    private static final int TOMORROW = 1;

    /** Middle of the week is e times as high as its ends: yesterday's demand is no guide for today. */
    @Test
    void knowsTheWeekFromTheSecondOneOn() {
        double[] demand = series(6 * WEEK, step -> 0.5 * -Math.cos(2 * Math.PI * step / WEEK));

        double ours = error("lendstream", demand, TOMORROW, 4 * WEEK);
        double yesterday = error("seasonal-naive", demand, TOMORROW, 4 * WEEK);
        double average = error("ewma", demand, TOMORROW, 4 * WEEK);

        assertThat(ours).isLessThan(0.5 * yesterday).isLessThan(0.5 * average);
    }

    /** Three percent a day, eight-fold in ten weeks: neither runs behind nor ahead of it. */
    @Test
    void followsGrowth() {
        double[] demand = series(10 * WEEK, step -> 0.03 * step / DAY);
        var said = forecasts("lendstream", demand);

        double expected = 0;
        double came = 0;
        double under99 = 0;
        int from = 8 * WEEK;
        for (int step = from; step + AHEAD[HOUR] < demand.length; step++) {
            HorizonQuantiles line = said.get(step).get(HOUR);
            double actual = demand[step + AHEAD[HOUR]];
            expected += line.p50();
            came += actual;
            under99 += actual <= line.p99() ? 1 : 0;
        }

        assertThat(expected / came).isBetween(0.97, 1.03);
        assertThat(under99 / (demand.length - AHEAD[HOUR] - from)).isBetween(0.975, 1.0);
    }

    /** Demand per second with some noise: a day's wave, and beside it what {@code slow} says of the logarithm. */
    private static double[] series(int steps, IntToDoubleFunction slow) {
        var random = new SplittableRandom(11);
        double[] demand = new double[steps];
        for (int step = 0; step < steps; step++) {
            double level = 0.5 * -Math.cos(2 * Math.PI * step / DAY) + slow.applyAsDouble(step);
            demand[step] = 100 / SECONDS * Math.exp(level + 0.05 * random.nextGaussian());
        }
        return demand;
    }

    private static double error(String model, double[] demand, int horizon, int from) {
        var said = forecasts(model, demand);
        double sum = 0;
        for (int step = from; step + AHEAD[horizon] < demand.length; step++) {
            sum += Math.abs(said.get(step).get(horizon).p50() - demand[step + AHEAD[horizon]]);
        }
        return sum;
    }

    private static List<List<HorizonQuantiles>> forecasts(String name, double... demand) {
        var model = Models.create(new ForecastSettings(name, Duration.ofMinutes(30), HORIZONS));
        List<List<HorizonQuantiles>> said = new ArrayList<>();
        for (int step = 0; step < demand.length; step++) {
            model.observe(step, demand[step]);
            said.add(model.forecast());
        }
        return said;
    }
}

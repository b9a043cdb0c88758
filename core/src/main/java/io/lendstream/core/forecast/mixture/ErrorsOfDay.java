package io.lendstream.core.forecast.mixture;

import io.lendstream.core.forecast.Compact;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.time.Duration;
import java.util.Arrays;

/** The ratio of errors at a time of day to the errors of a whole day. */
final class ErrorsOfDay {
    private static final int MOST_BINS = 48;
    /** Weight of the newest day. */
    private static final double DAY_GAIN = 0.2;

    private static final long DAY_MILLIS = Duration.ofDays(1).toMillis();

    private final long stepMillis;
    private final double gain;
    private final short[] ratios;

    /** @param judgedPerStep how many forecasts are judged at a step, over all horizons */
    ErrorsOfDay(ForecastSettings settings, double judgedPerStep) {
        stepMillis = settings.step().toMillis();
        int bins = (int) Math.max(1, Math.min(MOST_BINS, DAY_MILLIS / stepMillis));
        gain = 1 - Math.pow(1 - DAY_GAIN, bins / (settings.stepsPerDay() * judgedPerStep));
        ratios = new short[bins];
        Arrays.fill(ratios, Compact.number(1));
    }

    private int bin(long step) {
        return (int) (Math.floorMod(step * stepMillis, DAY_MILLIS) * ratios.length / DAY_MILLIS);
    }

    /** @param ratio of an error to a usual one */
    void learn(long step, double ratio) {
        int bin = bin(step);
        double before = Compact.number(ratios[bin]);
        ratios[bin] = Compact.number(before + gain * (ratio - before));
    }

    double at(long step) {
        return Math.max(0.01, Compact.number(ratios[bin(step)]));
    }

    void save(StateWriter out) {
        out.numbers(ratios);
    }

    void load(StateReader in) {
        in.numbers(ratios);
    }
}

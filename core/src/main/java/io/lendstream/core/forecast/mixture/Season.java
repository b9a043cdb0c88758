package io.lendstream.core.forecast.mixture;

import io.lendstream.core.forecast.Compact;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.Harmonics;
import io.lendstream.core.forecast.LeastSquares;
import io.lendstream.core.forecast.TimeOfDay;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.time.Duration;
import java.util.Arrays;

/**
 * The part of the level that depends on the time of day and of the week: waves of a day and of a week, fitted once a
 * day, and the residual of the waves for each bin of the day. An outlier changes both by no more than a fixed amount.
 */
final class Season {
    private static final Duration MEMORY = Duration.ofDays(21);
    /** From when on weekly waves are fitted too. */
    private static final Duration WEEKS_KNOWN = Duration.ofDays(9);

    private static final double RIDGE = 1e-3;
    /** An error beyond so many mean errors has no more weight than one there. */
    private static final double FAR = 2;

    private static final double PROFILE_GAIN = 0.3;
    private static final double FIRST_MEAN_ERROR = 0.2;
    private static final double ERROR_GAIN = 0.002;
    private static final double BIN_ERROR_GAIN = 0.005;
    private static final double MOST_ERRORS = 5;

    private static final int[] OF_DAY = range(Harmonics.OF_DAY);
    private static final int[] ALL = range(Harmonics.ALL);

    private final Harmonics harmonics;
    private final TimeOfDay day;
    private final long stepsPerDay;
    private final double keep;
    private final LeastSquares fit;
    private final double[] wave = new double[Harmonics.ALL];
    private float[] factors = new float[Harmonics.ALL];
    /** What the waves leave, a smoothed mean over days and the latest day. */
    private final short[] usual;

    private final short[] yesterday;
    private double usualBefore;
    private double yesterdayBefore;
    private long first = Long.MIN_VALUE;
    private boolean ready;
    private int bin = -1;
    private double sum;
    private int count;
    private double meanError = FIRST_MEAN_ERROR;
    private double meanBinError = FIRST_MEAN_ERROR;

    Season(ForecastSettings settings) {
        harmonics = new Harmonics(settings);
        day = new TimeOfDay(settings);
        stepsPerDay = Math.max(1, Math.round(settings.stepsPerDay()));
        keep = 1 - (double) settings.step().toMillis() / MEMORY.toMillis();
        fit = new LeastSquares(Harmonics.ALL, RIDGE);
        usual = new short[day.bins()];
        yesterday = new short[day.bins()];
    }

    private static int[] range(int count) {
        int[] range = new int[count];
        Arrays.setAll(range, i -> i);
        return range;
    }

    /** Whether there is a first day of history. */
    boolean ready() {
        return ready;
    }

    /** A step begins; to be called once a step, in order. */
    void moveTo(long step) {
        if (first == Long.MIN_VALUE) {
            first = step;
        }
        int next = day.bin(step);
        if (next != bin) {
            if (bin >= 0) {
                closeBin();
            }
            bin = next;
            sum = 0;
            count = 0;
        }
        if (step > first && Math.floorMod(step - first, stepsPerDay) == 0) {
            long days = (step - first) / stepsPerDay;
            factors = fit.factors(days >= WEEKS_KNOWN.toDays() ? ALL : OF_DAY);
            ready = true;
        }
    }

    private void closeBin() {
        usualBefore = Compact.number(usual[bin]);
        yesterdayBefore = Compact.number(yesterday[bin]);
        if (count == 0) {
            return;
        }
        double left = sum / count;
        double error = left - usualBefore;
        usual[bin] = Compact.number(usualBefore + PROFILE_GAIN * within(FAR * meanBinError, error));
        yesterday[bin] = Compact.number(usualBefore + within(MOST_ERRORS * meanBinError, error));
        meanBinError += BIN_ERROR_GAIN * (Math.abs(within(MOST_ERRORS * meanBinError, error)) - meanBinError);
    }

    private static double within(double most, double value) {
        return Math.max(-most, Math.min(most, value));
    }

    /** Takes in the level of the step that was moved to, and returns by how much it differs from the waves. */
    double learn(long step, double level) {
        harmonics.at(step, wave);
        double left = level - LeastSquares.of(factors, wave);
        double weight = 1;
        if (ready) {
            double error = Math.abs(left);
            weight = error > FAR * meanError ? FAR * meanError / error : 1;
            meanError += ERROR_GAIN * (Math.min(error, MOST_ERRORS * meanError) - meanError);
            sum += left;
            count++;
        }
        fit.learn(wave, level, weight, keep);
        return left;
    }

    /** The waves at a step. */
    double waves(long step) {
        harmonics.at(step, wave);
        return LeastSquares.of(factors, wave);
    }

    /** The usual residual at a step's time of day. */
    double usual(long step) {
        return Compact.number(usual[day.bin(step)]);
    }

    /** The last residual at a step's time of day. */
    double yesterday(long step) {
        return Compact.number(yesterday[day.bin(step)]);
    }

    /** The usual residual of the bin that ended last, as known before that bin. */
    double usualBefore() {
        return usualBefore;
    }

    /** The residual of a day before in the bin that ended last. */
    double yesterdayBefore() {
        return yesterdayBefore;
    }

    void save(StateWriter out) {
        fit.save(out);
        out.numbers(factors).numbers(usual).numbers(yesterday);
        out.number(usualBefore).number(yesterdayBefore).number(first).integer(ready ? 1 : 0);
        out.integer(bin).number(sum).integer(count).number(meanError).number(meanBinError);
    }

    void load(StateReader in) {
        fit.load(in);
        in.numbers(factors);
        in.numbers(usual);
        in.numbers(yesterday);
        usualBefore = in.number();
        yesterdayBefore = in.number();
        first = in.wholeNumber();
        ready = in.integer() == 1;
        bin = in.integer();
        sum = in.number();
        count = in.integer();
        meanError = in.number();
        meanBinError = in.number();
    }
}

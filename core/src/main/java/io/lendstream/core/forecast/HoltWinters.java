package io.lendstream.core.forecast;

import java.time.Duration;
import java.util.Arrays;

/**
 * Additive Holt-Winters on the level: a slow mean, a daily season, no trend, and an error term that says how much of the
 * latest deviation from the two will be left at each horizon. It has nothing to say on the first day.
 *
 * <p>{@code ahead(h) = mean + season(t + h) + fast_h * deviation over minutes + slow_h * deviation over an hour}, the two
 * factors of a horizon by ridge regression on what really was left, with forgetting.
 */
final class HoltWinters implements PointModel {
    private static final Duration MEAN_MEMORY = Duration.ofHours(12);
    private static final Duration FAST_MEMORY = Duration.ofMinutes(5);
    private static final Duration SLOW_MEMORY = Duration.ofMinutes(60);
    private static final Duration REGRESSION_MEMORY = Duration.ofDays(3);
    private static final Duration SMOOTHING = Duration.ofMinutes(15);
    /** The weight of the newest day in the season. */
    private static final double SEASON_GAIN = 0.25;
    /** Share of the deviations' variance, in steps, by which the regression is held back towards zero. */
    private static final double RIDGE_STEPS = 20;

    private final TimeOfDay day;
    private final int[] horizonSteps;
    private final double meanGain;
    private final double fastGain;
    private final double slowGain;
    private final double keep;
    private final double[] kernel;

    private final float[] season;
    private final float[] counts;
    private long first = Long.MIN_VALUE;
    private long now = Long.MIN_VALUE;
    private boolean ready;
    private double mean;
    private double fast;
    private double slow;
    /** The two deviations that were known when the step that has come now was one horizon away. */
    private final Past[] fastThen;

    private final Past[] slowThen;
    private final Regression[] left;

    HoltWinters(ForecastSettings settings) {
        day = new TimeOfDay(settings);
        horizonSteps = settings.horizonSteps();
        double stepMillis = settings.step().toMillis();
        meanGain = Math.min(1, stepMillis / MEAN_MEMORY.toMillis());
        fastGain = Math.min(1, stepMillis / FAST_MEMORY.toMillis());
        slowGain = Math.min(1, stepMillis / SLOW_MEMORY.toMillis());
        keep = 1 - Math.min(0.1, stepMillis / REGRESSION_MEMORY.toMillis());
        kernel = kernel(day.binsWithin(SMOOTHING));
        season = new float[day.bins()];
        counts = new float[day.bins()];
        fastThen = Past.ofEach(horizonSteps);
        slowThen = Past.ofEach(horizonSteps);
        left = new Regression[horizonSteps.length];
        Arrays.setAll(left, horizon -> new Regression());
    }

    @Override
    public void observe(long step, double level) {
        move(step);
        int bin = day.bin(step);
        if (!ready) {
            counts[bin]++;
            season[bin] += (float) ((level - season[bin]) / counts[bin]);
            return;
        }
        double deviation = level - mean - season[bin];
        for (int horizon = 0; horizon < left.length; horizon++) {
            left[horizon].learn(fastThen[horizon].at(step), slowThen[horizon].at(step), deviation, keep);
        }
        mean += meanGain * deviation;
        double gain = SEASON_GAIN / day.stepsPerBin() * (deviation - slow);
        for (int i = 0; i < kernel.length; i++) {
            season[day.after(bin, i - kernel.length / 2)] += (float) (gain * kernel[i]);
        }
        fast += fastGain * (deviation - fast);
        slow += slowGain * (deviation - slow);
        remember(step);
    }

    @Override
    public void miss(long step) {
        move(step);
        if (ready) {
            fast *= 1 - fastGain;
            slow *= 1 - slowGain;
            remember(step);
        }
    }

    private void remember(long step) {
        for (int horizon = 0; horizon < left.length; horizon++) {
            fastThen[horizon].put(step, fast);
            slowThen[horizon].put(step, slow);
        }
    }

    private void move(long step) {
        if (first == Long.MIN_VALUE) {
            first = step;
        }
        now = step;
        if (!ready && day.bins() * day.stepsPerBin() <= step - first) {
            startSeason();
        }
    }

    /** The first day is over: its mean becomes the mean, what is left of it, smoothed, the season. */
    private void startSeason() {
        double sum = 0;
        int seen = 0;
        for (int bin = 0; bin < season.length; bin++) {
            if (counts[bin] > 0) {
                sum += season[bin];
                seen++;
            }
        }
        if (seen == 0) {
            first = now;
            return;
        }
        mean = sum / seen;
        float[] raw = season.clone();
        for (int bin = 0; bin < season.length; bin++) {
            double weighted = 0;
            double weights = 0;
            for (int i = 0; i < kernel.length; i++) {
                int near = day.after(bin, i - kernel.length / 2);
                if (counts[near] > 0) {
                    weighted += kernel[i] * (raw[near] - mean);
                    weights += kernel[i];
                }
            }
            season[bin] = weights > 0 ? (float) (weighted / weights) : 0;
        }
        Arrays.fill(counts, 0);
        ready = true;
    }

    @Override
    public double ahead(int horizon) {
        if (!ready) {
            return Double.NaN;
        }
        return mean + season[day.bin(now + horizonSteps[horizon])] + left[horizon].of(fast, slow);
    }

    @Override
    public void save(StateWriter out) {
        out.numbers(season).numbers(counts).number(first).number(now).integer(ready ? 1 : 0);
        out.number(mean).number(fast).number(slow);
        for (int horizon = 0; horizon < left.length; horizon++) {
            fastThen[horizon].save(out);
            slowThen[horizon].save(out);
            left[horizon].save(out);
        }
    }

    @Override
    public void load(StateReader in) {
        in.numbers(season);
        in.numbers(counts);
        first = in.wholeNumber();
        now = in.wholeNumber();
        ready = in.integer() == 1;
        mean = in.number();
        fast = in.number();
        slow = in.number();
        for (int horizon = 0; horizon < left.length; horizon++) {
            fastThen[horizon].load(in);
            slowThen[horizon].load(in);
            left[horizon].load(in);
        }
    }

    /** Weights falling evenly to both sides, with the sum 1. */
    private static double[] kernel(int reach) {
        double[] weights = new double[2 * reach + 1];
        double sum = (reach + 1.0) * (reach + 1.0);
        for (int i = 0; i < weights.length; i++) {
            weights[i] = (reach + 1 - Math.abs(i - reach)) / sum;
        }
        return weights;
    }

    /** Least squares of one value on two, with forgetting and held back towards zero. */
    private static final class Regression {
        private double fastFast;
        private double fastSlow;
        private double slowSlow;
        private double fastY;
        private double slowY;
        private double weight;

        void learn(double fast, double slow, double y, double keep) {
            if (Double.isNaN(fast)) {
                return;
            }
            fastFast = keep * fastFast + fast * fast;
            fastSlow = keep * fastSlow + fast * slow;
            slowSlow = keep * slowSlow + slow * slow;
            fastY = keep * fastY + fast * y;
            slowY = keep * slowY + slow * y;
            weight = keep * weight + 1;
        }

        double of(double fast, double slow) {
            if (weight == 0) {
                return fast;
            }
            double a = fastFast * (1 + RIDGE_STEPS / weight);
            double d = slowSlow * (1 + RIDGE_STEPS / weight);
            double determinant = a * d - fastSlow * fastSlow;
            if (!(determinant > 1e-9 * a * d) || determinant < 1e-300) {
                return 0;
            }
            double fastFactor = (fastY * d - slowY * fastSlow) / determinant;
            double slowFactor = (slowY * a - fastY * fastSlow) / determinant;
            return fastFactor * fast + slowFactor * slow;
        }

        void save(StateWriter out) {
            out.number(fastFast).number(fastSlow).number(slowSlow);
            out.number(fastY).number(slowY).number(weight);
        }

        void load(StateReader in) {
            fastFast = in.number();
            fastSlow = in.number();
            slowSlow = in.number();
            fastY = in.number();
            slowY = in.number();
            weight = in.number();
        }
    }
}

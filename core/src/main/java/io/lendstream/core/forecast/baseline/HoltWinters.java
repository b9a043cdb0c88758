package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.PointModel;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.util.Arrays;

/**
 * Additive Holt-Winters on the level as the books have it: a mean and a season of a day, each exponentially smoothed,
 * no trend, and an error that decays with the distance. It makes no forecast on the first day.
 *
 * <p>{@code ahead(h) = mean + season(t + h) + phi^h * (level - mean - season)}
 *
 * @see <a href="https://doi.org/10.1057/palgrave.jors.2601589">Taylor, Short-term electricity demand forecasting using
 *     double seasonal exponential smoothing, JORS 2003</a>
 */
final class HoltWinters implements PointModel {
    private final double alpha;
    private final double gamma;
    private final double phi;
    private final int[] horizonSteps;
    private final float[] season;
    private int days;
    private int seen;
    private long first = Long.MIN_VALUE;
    private long now = Long.MIN_VALUE;
    private double mean;
    private double error;

    /**
     * @param alpha weight of the newest error in the mean, in [0, 1]
     * @param gamma the same in the season; on the first days the season is a plain mean
     * @param phi how much of an error is left a step later, in [0, 1)
     */
    HoltWinters(ForecastSettings settings, double alpha, double gamma, double phi) {
        this.alpha = alpha;
        this.gamma = gamma;
        this.phi = phi;
        horizonSteps = settings.horizonSteps();
        season = new float[(int) Math.max(1, Math.round(settings.stepsPerDay()))];
        Arrays.fill(season, Float.NaN);
    }

    @Override
    public void observe(long step, double level) {
        move(step);
        int slot = slot(step);
        if (days == 0) {
            season[slot] = (float) level;
            mean += (level - mean) / ++seen;
            return;
        }
        double expected = Float.isNaN(season[slot]) ? 0 : season[slot];
        double deviation = level - mean - expected;
        // of the deviation, what the last one did not foretell
        double surprise = deviation - phi * error;
        mean += alpha * surprise;
        season[slot] = (float)
                (expected + Math.max(gamma, 1.0 / (days + 1)) * (Float.isNaN(season[slot]) ? deviation : surprise));
        error = deviation;
    }

    @Override
    public void miss(long step) {
        move(step);
        error *= phi;
    }

    private void move(long step) {
        if (first == Long.MIN_VALUE) {
            first = step;
        }
        now = step;
        int before = days;
        days = (int) Math.min(Integer.MAX_VALUE, (step - first) / season.length);
        if (before == 0 && days > 0) {
            for (int i = 0; i < season.length; i++) {
                season[i] -= (float) mean;
            }
        }
    }

    private int slot(long step) {
        return Math.floorMod(step, season.length);
    }

    @Override
    public double ahead(int horizon) {
        if (days == 0) {
            return Double.NaN;
        }
        int steps = horizonSteps[horizon];
        float expected = season[slot(now + steps)];
        return mean + (Float.isNaN(expected) ? 0 : expected) + Math.pow(phi, steps) * error;
    }

    @Override
    public void save(StateWriter out) {
        out.numbers(season)
                .integer(days)
                .integer(seen)
                .number(first)
                .number(now)
                .number(mean)
                .number(error);
    }

    @Override
    public void load(StateReader in) {
        in.numbers(season);
        days = in.integer();
        seen = in.integer();
        first = in.wholeNumber();
        now = in.wholeNumber();
        mean = in.number();
        error = in.number();
    }
}

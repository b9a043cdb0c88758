package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.PointModel;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.util.Arrays;
import java.util.List;

/** At each horizon that of several models which erred least over the last 24 hours, in requests. */
public final class Select implements PointModel {
    private static final int QUARTERS = 24 * 4;
    /** Those of a day, and the one that has begun. */
    private static final int SLOTS = QUARTERS + 1;
    /** A model is chosen only if it was tried in a quarter of that time. */
    private static final double LEAST_TRIED = 0.25;

    private final List<PointModel> models;
    private final int horizons;
    private final double quarterSteps;
    private final RecentOutcomes[][] forecasts;
    /** By model, horizon and quarter of an hour: the sum of errors and how many there were. */
    private final float[][][] errors;

    private final float[][][] trials;
    private long quarter = Long.MIN_VALUE;

    /** @param models the first is chosen until others have been tried */
    public Select(ForecastSettings settings, List<PointModel> models) {
        this.models = List.copyOf(models);
        int[] steps = settings.horizonSteps();
        horizons = steps.length;
        quarterSteps = settings.stepsPerDay() / QUARTERS;
        forecasts = new RecentOutcomes[models.size()][];
        Arrays.setAll(forecasts, model -> RecentOutcomes.ofEach(steps));
        errors = new float[models.size()][horizons][SLOTS];
        trials = new float[models.size()][horizons][SLOTS];
    }

    @Override
    public void observe(long step, double level) {
        move(step);
        int slot = Math.floorMod(quarter, SLOTS);
        for (int model = 0; model < models.size(); model++) {
            for (int horizon = 0; horizon < horizons; horizon++) {
                double forecast = forecasts[model][horizon].at(step);
                if (!Double.isNaN(forecast)) {
                    errors[model][horizon][slot] += (float) Math.abs(Math.expm1(level) - Math.expm1(forecast));
                    trials[model][horizon][slot]++;
                }
            }
            models.get(model).observe(step, level);
        }
        note(step);
    }

    @Override
    public void miss(long step) {
        move(step);
        models.forEach(model -> model.miss(step));
        note(step);
    }

    private void move(long step) {
        long next = (long) Math.floor(step / quarterSteps);
        for (long each = Math.max(quarter + 1, next - SLOTS + 1); quarter != Long.MIN_VALUE && each <= next; each++) {
            for (int model = 0; model < models.size(); model++) {
                for (int horizon = 0; horizon < horizons; horizon++) {
                    errors[model][horizon][Math.floorMod(each, SLOTS)] = 0;
                    trials[model][horizon][Math.floorMod(each, SLOTS)] = 0;
                }
            }
        }
        quarter = next;
    }

    private void note(long step) {
        for (int model = 0; model < models.size(); model++) {
            for (int horizon = 0; horizon < horizons; horizon++) {
                forecasts[model][horizon].put(step, models.get(model).ahead(horizon));
            }
        }
    }

    @Override
    public double ahead(int horizon) {
        int chosen = 0;
        double least = Double.POSITIVE_INFINITY;
        for (int model = 0; model < models.size(); model++) {
            double tried = sum(trials[model][horizon]);
            double error = sum(errors[model][horizon]) / tried;
            if (tried > LEAST_TRIED * QUARTERS * quarterSteps
                    && error < least
                    && !Double.isNaN(models.get(model).ahead(horizon))) {
                chosen = model;
                least = error;
            }
        }
        return models.get(chosen).ahead(horizon);
    }

    private static double sum(float[] values) {
        double sum = 0;
        for (float value : values) {
            sum += value;
        }
        return sum;
    }

    @Override
    public void save(StateWriter out) {
        out.number(quarter);
        for (int model = 0; model < models.size(); model++) {
            models.get(model).save(out);
            for (int horizon = 0; horizon < horizons; horizon++) {
                forecasts[model][horizon].save(out);
                out.numbers(errors[model][horizon]).numbers(trials[model][horizon]);
            }
        }
    }

    @Override
    public void load(StateReader in) {
        quarter = in.wholeNumber();
        for (int model = 0; model < models.size(); model++) {
            models.get(model).load(in);
            for (int horizon = 0; horizon < horizons; horizon++) {
                forecasts[model][horizon].load(in);
                in.numbers(errors[model][horizon]);
                in.numbers(trials[model][horizon]);
            }
        }
    }
}

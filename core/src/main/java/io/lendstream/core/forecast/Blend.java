package io.lendstream.core.forecast;

import java.util.Arrays;
import java.util.List;

/**
 * Several models at once. For each horizon it weighs them by how well they did there lately: the mean absolute error of
 * their levels over about half a day. With a high power it follows the best one, with a lower one it averages those that
 * are nearly as good, which is better than any of them.
 */
final class Blend implements PointModel {
    private static final int SHORTEST_MEMORY_STEPS = 50;
    private static final int LONGEST_MEMORY_STEPS = 1500;
    /** A model has to be tried this often at a horizon before its error counts. */
    private static final int TRIALS = 5;

    private static final double SMALLEST_ERROR = 1e-6;

    private final List<PointModel> models;
    private final int horizons;
    private final double power;
    private final double memorySteps;
    private final Past[][] forecasts;
    private final double[][] errors;
    private final double[][] trials;

    /** @param power to which a model's error is raised to divide its weight; very high to choose the best alone */
    Blend(ForecastSettings settings, double power, List<PointModel> models) {
        this.models = List.copyOf(models);
        this.power = power;
        int[] steps = settings.horizonSteps();
        horizons = steps.length;
        memorySteps = Math.max(SHORTEST_MEMORY_STEPS, Math.min(LONGEST_MEMORY_STEPS, settings.stepsPerDay() / 2));
        forecasts = new Past[models.size()][];
        Arrays.setAll(forecasts, model -> Past.ofEach(steps));
        errors = new double[models.size()][horizons];
        trials = new double[models.size()][horizons];
    }

    @Override
    public void observe(long step, double level) {
        for (int model = 0; model < models.size(); model++) {
            for (int horizon = 0; horizon < horizons; horizon++) {
                double forecast = forecasts[model][horizon].at(step);
                if (!Double.isNaN(forecast)) {
                    double trial = Math.min(trials[model][horizon] + 1, memorySteps);
                    trials[model][horizon] = trial;
                    errors[model][horizon] += (Math.abs(level - forecast) - errors[model][horizon]) / trial;
                }
            }
            models.get(model).observe(step, level);
        }
        note(step);
    }

    @Override
    public void miss(long step) {
        models.forEach(model -> model.miss(step));
        note(step);
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
        boolean anyTried = false;
        double best = Double.POSITIVE_INFINITY;
        for (int model = 0; model < models.size(); model++) {
            if (tried(model, horizon)) {
                anyTried = true;
                best = Math.min(best, Math.max(SMALLEST_ERROR, errors[model][horizon]));
            }
        }
        double weighted = 0;
        double weights = 0;
        for (int model = 0; model < models.size(); model++) {
            double forecast = models.get(model).ahead(horizon);
            if (Double.isNaN(forecast) || (anyTried && !tried(model, horizon))) {
                continue;
            }
            double weight = anyTried ? Math.pow(best / Math.max(SMALLEST_ERROR, errors[model][horizon]), power) : 1;
            weighted += weight * forecast;
            weights += weight;
        }
        return weighted / weights;
    }

    private boolean tried(int model, int horizon) {
        return trials[model][horizon] >= TRIALS
                && !Double.isNaN(models.get(model).ahead(horizon));
    }

    @Override
    public void save(StateWriter out) {
        for (int model = 0; model < models.size(); model++) {
            models.get(model).save(out);
            for (int horizon = 0; horizon < horizons; horizon++) {
                forecasts[model][horizon].save(out);
                out.number(errors[model][horizon]).number(trials[model][horizon]);
            }
        }
    }

    @Override
    public void load(StateReader in) {
        for (int model = 0; model < models.size(); model++) {
            models.get(model).load(in);
            for (int horizon = 0; horizon < horizons; horizon++) {
                forecasts[model][horizon].load(in);
                errors[model][horizon] = in.number();
                trials[model][horizon] = in.number();
            }
        }
    }
}

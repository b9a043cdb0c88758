package io.lendstream.simulator.forecasting;

import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.forecast.ForecastModel;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.service.Models;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.DoubleConsumer;

/**
 * A rolling origin over a series: a model is fed step by step, says after each what it expects, and is scored on what
 * it said after the training part. Models with settings are tuned on the training part alone.
 *
 * <p>A value is taken as the requests of a step, whatever its unit; that matters only where demand is small against
 * one.
 */
public final class Evaluation {
    private static final Duration DAY = Duration.ofDays(1);
    private static final int STEPS_A_WORD = 1000;

    private final RateSeries series;
    private final List<Duration> horizons;
    private final int trainingSteps;
    private final Optional<ReplicaCapacity> capacity;

    /** @param trainingSteps from the series' beginning; forecasts made later are scored */
    public Evaluation(RateSeries series, List<Duration> horizons, int trainingSteps) {
        this(series, horizons, trainingSteps, Optional.empty());
    }

    /**
     * @param capacity of a replica, in the series' unit; with it, forecasts speak in GPUs, too, and are scored in them
     */
    public Evaluation(
            RateSeries series, List<Duration> horizons, int trainingSteps, Optional<ReplicaCapacity> capacity) {
        if (trainingSteps < 1 || trainingSteps >= series.length()) {
            throw new IllegalArgumentException(
                    "the training part of %s is %d steps, but must be from 1 to %d, one less than the series has"
                            .formatted(series.name(), trainingSteps, series.length() - 1));
        }
        this.series = series;
        this.horizons = List.copyOf(horizons);
        this.trainingSteps = trainingSteps;
        this.capacity = capacity;
    }

    /** Takes in forecasts in the order in which they were made. */
    public interface Listener {
        /**
         * A forecast was made after the training part.
         *
         * @param origin the last step that the model had seen, counted from the series' first
         * @param target the step it is about; within the series
         * @param said in the series' unit
         */
        void forecast(int origin, int target, HorizonQuantiles said);
    }

    /**
     * Runs one model.
     *
     * @param progress receives the share that is done, now and then
     * @return a score a horizon
     */
    public List<Score> run(String model, Listener listener, DoubleConsumer progress) {
        ForecastSettings settings = new ForecastSettings(model, series.step(), horizons);
        double perStep = series.step().toMillis() / 1000.0;
        double[] training = new double[trainingSteps];
        for (int i = 0; i < trainingSteps; i++) {
            training[i] = series.value(i) / perStep;
        }
        ForecastModel forecaster = Models.tuned(settings, series.firstStep(), training);
        List<Tally> tallies = new ArrayList<>();
        horizons.forEach(horizon -> tallies.add(new Tally(capacity)));
        for (int origin = 0; origin < series.length(); origin++) {
            if (Double.isNaN(series.value(origin))) {
                forecaster.miss(series.firstStep() + origin);
            } else {
                forecaster.observe(series.firstStep() + origin, series.value(origin) / perStep);
            }
            if (origin >= trainingSteps) {
                look(forecaster.forecast(), origin, tallies, listener);
            }
            if (origin % STEPS_A_WORD == 0) {
                progress.accept((double) origin / series.length());
            }
        }
        double naive = seasonalNaiveError();
        List<Score> scores = new ArrayList<>();
        for (int i = 0; i < tallies.size(); i++) {
            scores.add(tallies.get(i).score(series, horizons.get(i), model, naive));
        }
        return scores;
    }

    private void look(List<HorizonQuantiles> lines, int origin, List<Tally> tallies, Listener listener) {
        double perStep = series.step().toMillis() / 1000.0;
        for (int i = 0; i < lines.size(); i++) {
            HorizonQuantiles line = lines.get(i);
            int target =
                    origin + (int) (line.horizon().toMillis() / series.step().toMillis());
            if (target >= series.length()) {
                continue;
            }
            HorizonQuantiles plain = new HorizonQuantiles(
                    line.horizon(),
                    line.p10() * perStep,
                    line.p50() * perStep,
                    line.p90() * perStep,
                    line.p99() * perStep);
            HorizonQuantiles said = capacity.map(each -> each.inGpus(plain)).orElse(plain);
            listener.forecast(origin, target, said);
            if (!Double.isNaN(series.value(origin)) && !Double.isNaN(series.value(target))) {
                tallies.get(i).add(said, series.value(target), series.value(origin));
            }
        }
    }

    /** Mean absolute difference to the same time a day before, within the training part. */
    private double seasonalNaiveError() {
        int day = (int) Math.max(1, DAY.toMillis() / series.step().toMillis());
        double sum = 0;
        int count = 0;
        for (int i = day; i < trainingSteps; i++) {
            double difference = Math.abs(series.value(i) - series.value(i - day));
            if (!Double.isNaN(difference)) {
                sum += difference;
                count++;
            }
        }
        return sum / count;
    }
}

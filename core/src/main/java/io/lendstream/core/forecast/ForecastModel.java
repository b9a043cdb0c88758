package io.lendstream.core.forecast;

import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.util.List;
import java.util.Optional;

/**
 * A forecast model. It takes the steps of one service in order, each with demand or missing, and forecasts the demand
 * at every horizon after each of them. It uses past steps only, and its state does not grow.
 */
public interface ForecastModel {
    /**
     * The demand of a step.
     *
     * @param step number of the step: its start divided by the step length; one more than the last one's
     * @param arrivalsPerSecond requests offered per second over the step
     */
    void observe(long step, double arrivalsPerSecond);

    /** A step without reported demand. */
    void miss(long step);

    /** What it expects as of the last step, a line a horizon; empty until it has seen demand. */
    List<HorizonQuantiles> forecast();

    /** Mean absolute error of its recent forecasts at the first horizon, over mean demand. */
    Optional<Double> recentError();

    void save(StateWriter out);

    /** Takes on the state that a model of the same settings saved. */
    void load(StateReader in);
}

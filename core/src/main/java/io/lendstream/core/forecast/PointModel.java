package io.lendstream.core.forecast;

import io.lendstream.core.forecast.baseline.Calibrated;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;

/**
 * Forecasts the most likely value at each horizon; {@link Calibrated} makes quantiles of it. It works on the
 * <em>level</em> of demand, the natural logarithm of one plus the requests of a step.
 */
public interface PointModel {
    void observe(long step, double level);

    void miss(long step);

    /** The level it expects at the horizon of this index; NaN while it has no forecast. */
    double ahead(int horizon);

    void save(StateWriter out);

    void load(StateReader in);
}

package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.PointModel;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;

/** Forecasts the last demand for all horizons. */
public final class Persistence implements PointModel {
    private double last = Double.NaN;

    @Override
    public void observe(long step, double level) {
        last = level;
    }

    @Override
    public void miss(long step) {}

    @Override
    public double ahead(int horizon) {
        return last;
    }

    @Override
    public void save(StateWriter out) {
        out.number(last);
    }

    @Override
    public void load(StateReader in) {
        last = in.number();
    }
}

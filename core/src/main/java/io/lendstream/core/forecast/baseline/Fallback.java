package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.PointModel;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;

/** A model, with another in its place while the first has no forecast. */
final class Fallback implements PointModel {
    private final PointModel first;
    private final PointModel second;

    Fallback(PointModel first, PointModel second) {
        this.first = first;
        this.second = second;
    }

    @Override
    public void observe(long step, double level) {
        first.observe(step, level);
        second.observe(step, level);
    }

    @Override
    public void miss(long step) {
        first.miss(step);
        second.miss(step);
    }

    @Override
    public double ahead(int horizon) {
        double ahead = first.ahead(horizon);
        return Double.isNaN(ahead) ? second.ahead(horizon) : ahead;
    }

    @Override
    public void save(StateWriter out) {
        first.save(out);
        second.save(out);
    }

    @Override
    public void load(StateReader in) {
        first.load(in);
        second.load(in);
    }
}

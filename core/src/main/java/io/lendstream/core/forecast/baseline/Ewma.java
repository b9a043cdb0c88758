package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.PointModel;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;

/** An exponentially weighted moving average of the level goes on. */
public final class Ewma implements PointModel {
    private final double alpha;
    private double mean = Double.NaN;

    /** @param alpha weight of the newest step, in (0, 1] */
    public Ewma(double alpha) {
        if (!(alpha > 0 && alpha <= 1)) {
            throw new IllegalArgumentException("ewma:alpha is %s, but must be above 0 and at most 1".formatted(alpha));
        }
        this.alpha = alpha;
    }

    @Override
    public void observe(long step, double level) {
        mean = Double.isNaN(mean) ? level : mean + alpha * (level - mean);
    }

    @Override
    public void miss(long step) {}

    @Override
    public double ahead(int horizon) {
        return mean;
    }

    @Override
    public void save(StateWriter out) {
        out.number(mean);
    }

    @Override
    public void load(StateReader in) {
        mean = in.number();
    }
}

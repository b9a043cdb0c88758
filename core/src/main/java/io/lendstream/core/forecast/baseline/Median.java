package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.PointModel;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.util.List;

/** The median of several models; with an even number of forecasts, the mean of the two in the middle. */
public final class Median implements PointModel {
    private final List<PointModel> models;

    public Median(List<PointModel> models) {
        this.models = List.copyOf(models);
    }

    @Override
    public void observe(long step, double level) {
        models.forEach(model -> model.observe(step, level));
    }

    @Override
    public void miss(long step) {
        models.forEach(model -> model.miss(step));
    }

    @Override
    public double ahead(int horizon) {
        double[] said = models.stream()
                .mapToDouble(model -> model.ahead(horizon))
                .filter(each -> !Double.isNaN(each))
                .sorted()
                .toArray();
        return said.length == 0 ? Double.NaN : (said[(said.length - 1) / 2] + said[said.length / 2]) / 2;
    }

    @Override
    public void save(StateWriter out) {
        models.forEach(model -> model.save(out));
    }

    @Override
    public void load(StateReader in) {
        models.forEach(model -> model.load(in));
    }
}

package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.PointModel;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.util.List;

/** For each horizon a model of its own. */
final class PerHorizon implements PointModel {
    private final List<PointModel> models;

    /** @param models one a horizon, in their order */
    PerHorizon(List<? extends PointModel> models) {
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
        return models.get(horizon).ahead(horizon);
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

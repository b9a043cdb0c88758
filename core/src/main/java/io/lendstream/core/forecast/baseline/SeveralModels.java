package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.PointModel;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.util.List;

/** Several models that see the same series, and are saved in their order. */
abstract class SeveralModels implements PointModel {
    private final List<PointModel> models;

    SeveralModels(List<? extends PointModel> models) {
        this.models = List.copyOf(models);
    }

    final List<PointModel> models() {
        return models;
    }

    @Override
    public final void observe(long step, double level) {
        models.forEach(model -> model.observe(step, level));
    }

    @Override
    public final void miss(long step) {
        models.forEach(model -> model.miss(step));
    }

    @Override
    public final void save(StateWriter out) {
        models.forEach(model -> model.save(out));
    }

    @Override
    public final void load(StateReader in) {
        models.forEach(model -> model.load(in));
    }
}

package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.PointModel;
import java.util.List;

/** A separate model for each horizon. */
final class PerHorizon extends SeveralModels {
    /** @param models one for each horizon, in their order */
    PerHorizon(List<? extends PointModel> models) {
        super(models);
    }

    @Override
    public double ahead(int horizon) {
        return models().get(horizon).ahead(horizon);
    }
}

package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.PointModel;
import java.util.List;

/** The median of several models; with an even number of forecasts, the mean of the two in the middle. */
public final class Median extends SeveralModels {
    public Median(List<PointModel> models) {
        super(models);
    }

    @Override
    public double ahead(int horizon) {
        double[] forecasts = models().stream()
                .mapToDouble(model -> model.ahead(horizon))
                .filter(each -> !Double.isNaN(each))
                .sorted()
                .toArray();
        int count = forecasts.length;
        return count == 0 ? Double.NaN : (forecasts[(count - 1) / 2] + forecasts[count / 2]) / 2;
    }
}

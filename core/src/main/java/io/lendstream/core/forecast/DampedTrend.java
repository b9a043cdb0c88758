package io.lendstream.core.forecast;

/**
 * Level and trend, both exponentially smoothed, the trend fading out with the distance.
 *
 * <p>{@code ahead(h) = level + (phi + phi^2 + ... + phi^h) * trend}
 *
 * @see <a href="https://otexts.com/fpp3/holt.html">Gardner and McKenzie's damped trend, in Hyndman and Athanasopoulos,
 *     Forecasting: Principles and Practice, section 8.2</a>
 */
final class DampedTrend implements PointModel {
    /** A trend may carry the forecast away by a factor of e, no further. */
    private static final double FARTHEST = 1;

    private final double alpha;
    private final double beta;
    private final double phi;
    private final double[] reach;
    private double level = Double.NaN;
    private double trend;

    DampedTrend(ForecastSettings settings, double alpha, double beta, double phi) {
        this.alpha = alpha;
        this.beta = beta;
        this.phi = phi;
        int[] steps = settings.horizonSteps();
        reach = new double[steps.length];
        for (int i = 0; i < steps.length; i++) {
            reach[i] = phi * (1 - Math.pow(phi, steps[i])) / (1 - phi);
        }
    }

    @Override
    public void observe(long step, double observed) {
        if (Double.isNaN(level)) {
            level = observed;
            return;
        }
        double expected = level + phi * trend;
        double before = level;
        level = expected + alpha * (observed - expected);
        trend = phi * trend + beta * (level - before - phi * trend);
    }

    @Override
    public void miss(long step) {
        trend *= phi;
    }

    @Override
    public double ahead(int horizon) {
        return level + Math.max(-FARTHEST, Math.min(FARTHEST, reach[horizon] * trend));
    }

    @Override
    public void save(StateWriter out) {
        out.number(level).number(trend);
    }

    @Override
    public void load(StateReader in) {
        level = in.number();
        trend = in.number();
    }
}

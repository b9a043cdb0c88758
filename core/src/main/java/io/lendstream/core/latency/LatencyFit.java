package io.lendstream.core.latency;

import java.util.List;
import org.hipparchus.linear.ArrayRealVector;
import org.hipparchus.linear.LUDecomposition;
import org.hipparchus.linear.MatrixUtils;
import org.hipparchus.linear.RealMatrix;
import org.hipparchus.linear.RealVector;
import org.hipparchus.optim.nonlinear.vector.leastsquares.LeastSquaresBuilder;
import org.hipparchus.optim.nonlinear.vector.leastsquares.LevenbergMarquardtOptimizer;
import org.hipparchus.util.Pair;

/**
 * Fits a {@link Hinge} to samples by least squares of logarithms, because errors are in proportion. The prior counts as
 * additional samples, so that few samples suffice and unmeasured parameters keep the values of other models. By
 * Levenberg-Marquardt from two points, with the floor below and above all that was measured at first.
 */
public final class LatencyFit {
    /** How far a hinge is off where it was fitted to everything, in logarithms. */
    static final double NOISE = .03;

    /** Samples that contradict each other can keep it stepping to and fro; it is then as near as it gets. */
    private static final int MOST_STEPS = 500;

    private static final double[][] STARTS = {{-.1, -1}, {-.5, .3}};

    /**
     * What a hinge is fitted to.
     *
     * @param batch of a mean of batches, it need not be whole
     * @param weight in samples; 1 for one that was measured well
     */
    record Point(Slice slice, double batch, double size, double millis, double weight) {}

    private LatencyFit() {}

    /**
     * The model that fits best.
     *
     * @param samples at least one
     */
    public static LatencyModel of(List<LatencySample> samples, LatencyPrior prior) {
        return ofPoints(points(samples), prior);
    }

    static List<Point> points(List<LatencySample> samples) {
        return samples.stream()
                .map(sample -> new Point(sample.slice(), sample.batch(), sample.size(), sample.millis(), 1))
                .toList();
    }

    static LatencyModel ofPoints(List<Point> samples, LatencyPrior prior) {
        Hinge hinge = hinge(samples, prior);
        double[][] covariance = covariance(samples, hinge, prior);
        double squares = 0;
        double free = 0;
        for (Point sample : samples) {
            double residual = residual(sample, hinge, prior);
            squares += sample.weight() * residual * residual;
            free += sample.weight() * (1 - sample.weight() * pull(sample, hinge, covariance));
        }
        // As if two samples more had been off by the usual noise.
        double noise = Math.sqrt((squares + 2 * NOISE * NOISE) / (free + 2));
        return new LatencyModel(hinge, prior, Math.max(NOISE, noise), covariance);
    }

    /**
     * How far a sample of weight 1 pulls the hinge to itself: 1 if it alone determines a parameter, so that it cannot
     * be off.
     */
    private static double pull(Point sample, Hinge hinge, double[][] covariance) {
        double[] slopes = hinge.slopes(sample.slice(), sample.batch(), sample.size());
        double variance = 0;
        for (int i = 0; i < slopes.length; i++) {
            for (int j = 0; j < slopes.length; j++) {
                variance += slopes[i] * covariance[i][j] * slopes[j];
            }
        }
        return Math.min(1, variance / (NOISE * NOISE));
    }

    static Hinge hinge(List<Point> samples, LatencyPrior prior) {
        if (samples.isEmpty()) {
            throw new IllegalArgumentException(
                    "a latency model must be fitted to at least 1 sample, but there is none");
        }
        Hinge best = fit(samples, prior, STARTS[0]);
        Hinge other = fit(samples, prior, STARTS[1]);
        return cost(samples, prior, other) < cost(samples, prior, best) ? other : best;
    }

    private static Hinge fit(List<Point> samples, LatencyPrior prior, double[] start) {
        double least = samples.stream().mapToDouble(Point::millis).min().orElseThrow();
        double perInput = samples.stream()
                .mapToDouble(sample -> sample.millis() * sample.slice().compute() / (sample.batch() * sample.size()))
                .min()
                .orElseThrow();
        double[] from = {
            Math.log(least) + start[0],
            Math.log(least) + start[1],
            Math.log(perInput),
            prior.means().get(1),
            prior.means().get(2),
            prior.means().get(4)
        };
        var problem = new LeastSquaresBuilder()
                .start(from)
                .target(new double[samples.size() + LatencyPrior.FIGURES])
                .model(point -> evaluate(samples, prior, Hinge.of(point.toArray())))
                .checker((iteration, before, after) -> iteration >= MOST_STEPS)
                .maxEvaluations(Integer.MAX_VALUE)
                .maxIterations(Integer.MAX_VALUE)
                .build();
        return Hinge.of(new LevenbergMarquardtOptimizer()
                .withCostRelativeTolerance(1e-9)
                .withParameterRelativeTolerance(1e-8)
                .withOrthoTolerance(1e-9)
                .optimize(problem)
                .getPoint()
                .toArray());
    }

    private static double residual(Point sample, Hinge hinge, LatencyPrior prior) {
        return hinge.logMillis(sample.slice(), sample.batch(), sample.size())
                + prior.correction(sample.slice(), sample.batch(), sample.size())
                - Math.log(sample.millis());
    }

    private static double cost(List<Point> samples, LatencyPrior prior, Hinge hinge) {
        RealVector residuals = evaluate(samples, prior, hinge).getFirst();
        return residuals.dotProduct(residuals);
    }

    /** Residuals in standard deviations, those of samples before those of the prior, and their slopes. */
    private static Pair<RealVector, RealMatrix> evaluate(List<Point> samples, LatencyPrior prior, Hinge hinge) {
        int rows = samples.size() + LatencyPrior.FIGURES;
        double[] residuals = new double[rows];
        RealMatrix slopes = MatrixUtils.createRealMatrix(rows, Hinge.PARAMETERS);
        for (int i = 0; i < samples.size(); i++) {
            Point sample = samples.get(i);
            double certainty = Math.sqrt(sample.weight());
            residuals[i] = certainty * residual(sample, hinge, prior) / NOISE;
            double[] slope = hinge.slopes(sample.slice(), sample.batch(), sample.size());
            for (int j = 0; j < slope.length; j++) {
                slopes.setEntry(i, j, certainty * slope[j] / NOISE);
            }
        }
        double[] figures = LatencyPrior.figures(hinge);
        double[][] parts = {
            {0, 1, -1, 0, 0, 0}, {0, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 1, 0}, {1, -1, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 1}
        };
        for (int i = 0; i < figures.length; i++) {
            residuals[samples.size() + i] =
                    (figures[i] - prior.means().get(i)) / prior.spreads().get(i);
            for (int j = 0; j < Hinge.PARAMETERS; j++) {
                slopes.setEntry(
                        samples.size() + i, j, parts[i][j] / prior.spreads().get(i));
            }
        }
        return new Pair<>(new ArrayRealVector(residuals, false), slopes);
    }

    private static double[][] covariance(List<Point> samples, Hinge hinge, LatencyPrior prior) {
        RealMatrix slopes = evaluate(samples, prior, hinge).getSecond();
        return new LUDecomposition(slopes.transposeMultiply(slopes))
                .getSolver()
                .getInverse()
                .getData();
    }
}

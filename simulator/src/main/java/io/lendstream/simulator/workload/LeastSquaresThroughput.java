package io.lendstream.simulator.workload;

import io.lendstream.core.goodput.ThroughputParameters;
import java.util.List;
import org.hipparchus.linear.ArrayRealVector;
import org.hipparchus.linear.MatrixUtils;
import org.hipparchus.linear.RealMatrix;
import org.hipparchus.linear.RealVector;
import org.hipparchus.optim.nonlinear.vector.leastsquares.LeastSquaresBuilder;
import org.hipparchus.optim.nonlinear.vector.leastsquares.LeastSquaresOptimizer;
import org.hipparchus.optim.nonlinear.vector.leastsquares.LevenbergMarquardtOptimizer;
import org.hipparchus.util.Pair;

/**
 * The seven parameters that come closest to measured step times: least squares of the logarithms of computing time and
 * step time, so that small and large jobs count alike. Parameters are sought as logarithms, which keeps them above
 * zero.
 *
 * @see <a href="https://www.usenix.org/conference/osdi21/presentation/qiao">Pollux, OSDI 2021, section 4.1</a>
 */
final class LeastSquaresThroughput {
    private static final int PARAMETERS = 7;
    private static final double LEAST = 1e-8;
    private static final double STEP = 1e-5;
    /** Weight by which a parameter stays near its first guess, lest one that nothing was measured of run away. */
    private static final double PRIOR = 1e-3;
    /** Logarithms beyond this change nothing any more. */
    private static final double FAR = 25;

    private LeastSquaresThroughput() {}

    static ThroughputParameters of(List<StepTimes.Measured> measured) {
        double[] start = start(measured);
        var problem = new LeastSquaresBuilder()
                .start(start)
                .target(new double[2 * measured.size() + PARAMETERS])
                .model(point -> evaluate(measured, start, point))
                .maxEvaluations(1000)
                .maxIterations(1000)
                .build();
        LeastSquaresOptimizer.Optimum optimum = new LevenbergMarquardtOptimizer()
                .withCostRelativeTolerance(1e-9)
                .withParameterRelativeTolerance(1e-7)
                .withOrthoTolerance(1e-9)
                .optimize(problem);
        return parameters(optimum.getPoint());
    }

    private static double[] start(List<StepTimes.Measured> measured) {
        StepTimes.Measured first = measured.get(0);
        double compute = Math.max(LEAST, first.time().accumulationSeconds());
        double sync = Math.max(1e-3, first.time().seconds() / 5);
        return new double[] {
            Math.log(compute / 2),
            Math.log(compute / 2 / first.localBatch()),
            Math.log(2 * sync),
            Math.log(sync / 50),
            Math.log(sync),
            Math.log(sync / 50),
            -1.5
        };
    }

    private static Pair<RealVector, RealMatrix> evaluate(
            List<StepTimes.Measured> measured, double[] start, RealVector point) {
        double[] at = residuals(measured, start, point);
        RealMatrix slopes = MatrixUtils.createRealMatrix(at.length, PARAMETERS);
        for (int parameter = 0; parameter < PARAMETERS; parameter++) {
            RealVector moved = point.copy();
            moved.addToEntry(parameter, STEP);
            double[] beside = residuals(measured, start, moved);
            for (int i = 0; i < at.length; i++) {
                slopes.setEntry(i, parameter, (beside[i] - at[i]) / STEP);
            }
        }
        return new Pair<>(new ArrayRealVector(at, false), slopes);
    }

    private static double[] residuals(List<StepTimes.Measured> measured, double[] start, RealVector point) {
        ThroughputParameters guess = parameters(point);
        double[] residuals = new double[2 * measured.size() + PARAMETERS];
        for (int i = 0; i < measured.size(); i++) {
            StepTimes.Measured one = measured.get(i);
            double compute = guess.alphaC() + guess.betaC() * one.localBatch();
            double network = network(guess, one.nodes(), one.replicas());
            double step =
                    Math.pow(Math.pow(compute, guess.gamma()) + Math.pow(network, guess.gamma()), 1 / guess.gamma());
            residuals[2 * i] = Math.log(compute / Math.max(LEAST, one.time().accumulationSeconds()));
            residuals[2 * i + 1] = Math.log(step / one.time().seconds());
        }
        for (int i = 0; i < PARAMETERS; i++) {
            residuals[2 * measured.size() + i] = PRIOR * (point.getEntry(i) - start[i]);
        }
        return residuals;
    }

    private static double network(ThroughputParameters guess, int nodes, int replicas) {
        double more = Math.max(replicas - 2, LEAST);
        if (nodes > 1) {
            return guess.alphaN() + guess.betaN() * more;
        }
        return replicas > 1 ? guess.alphaR() + guess.betaR() * more : LEAST;
    }

    private static ThroughputParameters parameters(RealVector point) {
        double[] values = new double[PARAMETERS - 1];
        for (int i = 0; i < values.length; i++) {
            values[i] = Math.exp(Math.max(-FAR, Math.min(FAR, point.getEntry(i))));
        }
        double gamma = 1 + 9 / (1 + Math.exp(-Math.max(-FAR, Math.min(FAR, point.getEntry(PARAMETERS - 1)))));
        return new ThroughputParameters(
                values[0], values[1], values[2], values[3], values[4], values[5], Math.min(10, gamma));
    }
}

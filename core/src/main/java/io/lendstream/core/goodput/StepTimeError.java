package io.lendstream.core.goodput;

import java.util.Arrays;
import java.util.Collection;

/**
 * How far a job's throughput parameters are from the step times that were measured: the root mean square errors of the
 * logarithms of accumulation and step times, plus small terms that prefer a job that scales well.
 *
 * <p>{@code RMSLE(T_acc) + RMSLE(T_opt) + 1e-3 (gamma - 1)^2 + 1e-2 ((betaN / alphaN)^2 + (betaR / alphaR)^2)}
 *
 * <p>Variables are in the order of {@link ThroughputParameters}. Observations share local batches and placements, so
 * that their times are computed once for each that differs. An evaluation allocates nothing.
 *
 * @see <a href="https://www.usenix.org/conference/osdi21/presentation/qiao">Pollux, OSDI 2021, section 4.1</a>
 */
final class StepTimeError implements BoundedMinimizer.Objective {
    private static final double GAMMA_WEIGHT = 1e-3;
    private static final double RETROGRESSION_WEIGHT = 1e-2;
    private static final int ALPHA_C = 0;
    private static final int ALPHA_N = 2;
    private static final int ALPHA_R = 4;
    private static final int GAMMA = 6;
    private static final int NO_NETWORK = -1;

    private final int count;
    private final int[] batchOf;
    private final int[] networkOf;
    private final double[] logAccumulation;
    private final double[] logStep;
    private final Times batches;
    private final Times networks;
    private final double[] batchPull;

    StepTimeError(Collection<StepObservation> seen) {
        count = seen.size();
        batchOf = new int[count];
        networkOf = new int[count];
        logAccumulation = new double[count];
        logStep = new double[count];
        batches = new Times(count);
        networks = new Times(count);
        batchPull = new double[count];
        int i = 0;
        for (StepObservation one : seen) {
            batchOf[i] = batches.indexOf(ALPHA_C, one.localBatch());
            networkOf[i] = networks.indexOf(
                    one.nodes() > 1 ? ALPHA_N : one.replicas() > 1 ? ALPHA_R : NO_NETWORK,
                    ThroughputParameters.beyondTwo(one.replicas()));
            logAccumulation[i] = Math.log(one.accumulationSeconds());
            logStep[i] = Math.log(one.stepSeconds());
            i++;
        }
    }

    @Override
    public double at(double[] x, double[] gradient) {
        double gamma = x[GAMMA];
        batches.evaluate(x);
        networks.evaluate(x);
        Arrays.fill(batchPull, 0, batches.size, 0);
        double accumulationSquares = 0;
        double stepSquares = 0;
        double gammaPull = 0;
        for (int i = 0; i < count; i++) {
            int batch = batchOf[i];
            int network = networkOf[i];
            double logBatch = batches.log[batch];
            double logNetwork = networks.log[network];
            // The logarithm of (T_acc^gamma + T_net^gamma)^(1/gamma), by way of the greater of both.
            double less = Math.exp(-gamma * Math.abs(logBatch - logNetwork));
            double predicted = Math.max(logBatch, logNetwork) + Math.log(1 + less) / gamma;
            double smaller = less / (1 + less);
            double networkShare = logBatch >= logNetwork ? smaller : 1 - smaller;
            double accumulationError = logBatch - logAccumulation[i];
            double stepError = predicted - logStep[i];
            accumulationSquares += accumulationError * accumulationError;
            stepSquares += stepError * stepError;
            batchPull[batch] += accumulationError;
            batches.pull[batch] += stepError * (1 - networkShare);
            networks.pull[network] += stepError * networkShare;
            gammaPull += stepError * (logBatch + networkShare * (logNetwork - logBatch) - predicted);
        }
        double accumulationError = Math.sqrt(accumulationSquares / count);
        double stepError = Math.sqrt(stepSquares / count);
        double accumulationWeight = accumulationError > 0 ? 1 / (count * accumulationError) : 0;
        double stepWeight = stepError > 0 ? 1 / (count * stepError) : 0;
        Arrays.fill(gradient, 0);
        for (int k = 0; k < batches.size; k++) {
            batches.pull[k] = stepWeight * batches.pull[k] + accumulationWeight * batchPull[k];
        }
        batches.addTo(gradient, 1);
        networks.addTo(gradient, stepWeight);
        gradient[GAMMA] = stepWeight * gammaPull / gamma + 2 * GAMMA_WEIGHT * (gamma - 1);
        return accumulationError
                + stepError
                + GAMMA_WEIGHT * (gamma - 1) * (gamma - 1)
                + retrogression(x, ALPHA_N, gradient)
                + retrogression(x, ALPHA_R, gradient);
    }

    /** The term that holds a slope small against its constant. */
    private static double retrogression(double[] x, int alpha, double[] gradient) {
        double ratio = x[alpha + 1] / x[alpha];
        double slope = 2 * RETROGRESSION_WEIGHT * ratio / x[alpha];
        gradient[alpha] -= slope * ratio;
        gradient[alpha + 1] += slope;
        return RETROGRESSION_WEIGHT * ratio * ratio;
    }

    /** Times that are a constant and a slope times a factor: {@code x[alpha] + x[alpha + 1] * factor}. */
    private static final class Times {
        private final int[] alpha;
        private final double[] factor;
        private final double[] time;
        private final double[] log;
        /** How much the error grows with the logarithm of the time. */
        private final double[] pull;

        private int size;

        Times(int most) {
            alpha = new int[most];
            factor = new double[most];
            time = new double[most];
            log = new double[most];
            pull = new double[most];
        }

        int indexOf(int wantedAlpha, double wantedFactor) {
            for (int k = 0; k < size; k++) {
                if (alpha[k] == wantedAlpha && factor[k] == wantedFactor) {
                    return k;
                }
            }
            alpha[size] = wantedAlpha;
            factor[size] = wantedFactor;
            return size++;
        }

        void evaluate(double[] x) {
            for (int k = 0; k < size; k++) {
                time[k] = alpha[k] == NO_NETWORK
                        ? ThroughputParameters.NO_NETWORK_SECONDS
                        : x[alpha[k]] + x[alpha[k] + 1] * factor[k];
                log[k] = Math.log(time[k]);
                pull[k] = 0;
            }
        }

        void addTo(double[] gradient, double weight) {
            for (int k = 0; k < size; k++) {
                if (alpha[k] != NO_NETWORK) {
                    double slope = weight * pull[k] / time[k];
                    gradient[alpha[k]] += slope;
                    gradient[alpha[k] + 1] += slope * factor[k];
                }
            }
        }
    }
}

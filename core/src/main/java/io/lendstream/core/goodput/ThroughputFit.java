package io.lendstream.core.goodput;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.DoubleStream;

/**
 * The seven throughput parameters that explain measured step times best, as Pollux fits them while a job runs.
 *
 * <p>Every fit starts from the same point. A parameter without a measurement stays at its lower bound, so that a job is
 * expected to scale perfectly to placements it has not been on: the network's constant and slope before the job has run
 * on several nodes, or on several GPUs of one node; the slopes before it has run on more than two GPUs. With a single
 * local batch half of the mean accumulation time counts as constant. Before anything is known of several nodes, they
 * are taken for at least a tenth slower than one.
 *
 * <p>The problem is not convex, and badly conditioned: starts that differ by a billionth may lead to other parameters
 * that fit as well. The same observations in the same order always give the same parameters.
 *
 * @see <a href="https://www.usenix.org/conference/osdi21/presentation/qiao">Pollux, OSDI 2021, section 4.1</a>
 */
public final class ThroughputFit {
    private static final double LEAST = 1e-8;
    private static final double START_ALPHA = 0.1;
    private static final double START_BETA = 0.01;
    private static final double START_GAMMA = 1.001;
    private static final double FREE = Double.POSITIVE_INFINITY;
    private static final double MOST_GAMMA = 10;
    /** The greatest assumed difference of computation and network from the declaration. */
    private static final double MOST_FACTOR = 100;
    /** Nodes and GPUs for which the declared model stands in. */
    private static final int[][] USUAL_PLACEMENTS = {{1, 1}, {1, 2}, {1, 4}, {2, 8}, {4, 16}, {8, 32}};

    private static final double SEVERAL_NODES = 1.1;

    private ThroughputFit() {}

    /**
     * Fits observed step times.
     *
     * @throws IllegalArgumentException if there is no observation
     */
    public static ThroughputParameters fit(Collection<StepObservation> seen) {
        return fit(seen, 1);
    }

    /**
     * Fits observed step times from a slightly different start, to find out how much depends on the start.
     *
     * @param startFactor factor on each parameter of the start, such as {@code 1 + 1e-9}
     */
    public static ThroughputParameters fit(Collection<StepObservation> seen, double startFactor) {
        double[] start = {START_ALPHA, START_BETA, START_ALPHA, START_BETA, START_ALPHA, START_BETA, START_GAMMA};
        for (int i = 0; i < start.length; i++) {
            start[i] *= startFactor;
        }
        return fit(seen, start);
    }

    /**
     * Fits observed step times together with the declaration: the declared model, corrected by one factor for
     * computation and one for the network, stands in for placements without observations. So a job that has run on one
     * GPU only is not expected to scale perfectly.
     *
     * @throws IllegalArgumentException if there is no observation
     */
    public static ThroughputParameters refined(Collection<StepObservation> seen, ThroughputParameters declared) {
        ThroughputParameters scaled = scaled(declared, seen);
        int least = seen.stream().mapToInt(StepObservation::localBatch).min().orElse(1);
        int most = seen.stream().mapToInt(StepObservation::localBatch).max().orElse(1);
        List<StepObservation> all = new ArrayList<>(seen);
        for (int local : new int[] {least, Math.max(most, 2 * least)}) {
            for (int[] placement : USUAL_PLACEMENTS) {
                StepObservation expected = expected(scaled, placement[0], placement[1], local);
                if (seen.stream().noneMatch(expected::isLike)) {
                    all.add(expected);
                }
            }
        }
        double[] start = {
            scaled.alphaC(),
            scaled.betaC(),
            scaled.alphaN(),
            scaled.betaN(),
            scaled.alphaR(),
            scaled.betaR(),
            scaled.gamma()
        };
        for (int i = 0; i < start.length; i++) {
            start[i] = Math.max(LEAST, start[i]);
        }
        return fit(all, start);
    }

    private static StepObservation expected(ThroughputParameters speed, int nodes, int replicas, int local) {
        double step = speed.stepSeconds(nodes, replicas, local);
        return new StepObservation(nodes, replicas, local, step, Math.max(0, step - speed.accumulationSeconds(local)));
    }

    private static ThroughputParameters scaled(ThroughputParameters declared, Collection<StepObservation> seen) {
        double compute = meanFactor(seen.stream()
                .mapToDouble(one -> one.accumulationSeconds() / declared.accumulationSeconds(one.localBatch())));
        double network = meanFactor(seen.stream()
                .filter(one -> one.replicas() > 1 && one.syncSeconds() > 0)
                .mapToDouble(one ->
                        networkSeconds(one, declared.gamma()) / declared.networkSeconds(one.nodes(), one.replicas())));
        return new ThroughputParameters(
                compute * declared.alphaC(),
                compute * declared.betaC(),
                network * declared.alphaN(),
                network * declared.betaN(),
                network * declared.alphaR(),
                network * declared.betaR(),
                declared.gamma());
    }

    /** What a step's network time was if computation and network overlapped as declared. */
    private static double networkSeconds(StepObservation one, double gamma) {
        return Math.pow(Math.pow(one.stepSeconds(), gamma) - Math.pow(one.accumulationSeconds(), gamma), 1 / gamma);
    }

    /** The geometric mean; 1 of nothing. */
    private static double meanFactor(DoubleStream factors) {
        double mean = Math.exp(factors.filter(factor -> factor > 0 && factor < FREE)
                .map(Math::log)
                .average()
                .orElse(0));
        return Math.max(1 / MOST_FACTOR, Math.min(MOST_FACTOR, mean));
    }

    private static ThroughputParameters fit(Collection<StepObservation> seen, double[] start) {
        if (seen.isEmpty()) {
            throw new IllegalArgumentException("a fit needs at least one observed step, but there was none");
        }
        Known known = Known.of(seen);
        double[] lower = {LEAST, LEAST, LEAST, LEAST, LEAST, LEAST, 1};
        if (!known.severalBatches) {
            lower[0] = known.meanAccumulationSeconds / 2;
        }
        double[] upper = {
            known.severalBatches ? FREE : lower[0],
            FREE,
            known.severalNodes ? FREE : LEAST,
            known.severalNodes && known.moreThanTwo ? FREE : LEAST,
            known.oneNode ? FREE : LEAST,
            known.oneNode && known.moreThanTwo ? FREE : LEAST,
            MOST_GAMMA
        };
        double[] x = new BoundedMinimizer(new StepTimeError(seen), start, lower, upper).minimize();
        if (!known.severalNodes) {
            x[2] = Math.max(x[2], x[4] * SEVERAL_NODES);
            x[3] = Math.max(x[3], x[5] * SEVERAL_NODES);
        }
        return new ThroughputParameters(x[0], x[1], x[2], x[3], x[4], x[5], x[6]);
    }

    /** The parameters that observations determine. */
    private record Known(
            boolean severalBatches,
            boolean severalNodes,
            boolean oneNode,
            boolean moreThanTwo,
            double meanAccumulationSeconds) {
        static Known of(Collection<StepObservation> seen) {
            int batch = seen.iterator().next().localBatch();
            boolean severalBatches = false;
            boolean severalNodes = false;
            boolean oneNode = false;
            boolean moreThanTwo = false;
            double sum = 0;
            for (StepObservation one : seen) {
                severalBatches |= one.localBatch() != batch;
                severalNodes |= one.nodes() > 1;
                oneNode |= one.nodes() == 1 && one.replicas() > 1;
                moreThanTwo |= one.replicas() > 2;
                sum += one.accumulationSeconds();
            }
            return new Known(severalBatches, severalNodes, oneNode, moreThanTwo, sum / seen.size());
        }
    }
}

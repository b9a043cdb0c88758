package io.lendstream.core.policy.ats;

import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Goodput;
import io.lendstream.core.policy.JobView;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * Speedups of jobs on several kinds of GPU: their goodput over the usual one with a fair share of all GPUs. Where the
 * goodput of a job on two kinds differs by a factor, it is worked out once.
 */
final class FairSpeeds {
    private final int[] capacities;
    private final int[] gpusPerNode;
    private final int fairShare;
    private final int fairNodes;

    /**
     * @param kinds the GPUs of each kind
     * @param jobs how many jobs share them
     */
    FairSpeeds(List<ClusterView> kinds, int jobs) {
        this.capacities = kinds.stream().mapToInt(ClusterView::capacity).toArray();
        this.gpusPerNode =
                kinds.stream().mapToInt(kind -> Math.max(1, kind.gpusPerNode())).toArray();
        int gpus = Math.max(1, kinds.stream().mapToInt(ClusterView::gpuCount).sum());
        this.fairShare = Ats.ceilDiv(gpus, Math.max(1, jobs));
        this.fairNodes = Math.max(
                1, Ats.ceilDiv(kinds.stream().mapToInt(ClusterView::nodes).sum(), gpus));
    }

    OfJob of(JobView job) {
        return new OfJob(job);
    }

    /** The speedups of a job. */
    final class OfJob {
        /** The usual goodput with a fair share. */
        private final double fair;

        private @Nullable Goodput source;
        private int perNode;
        /** The speedups by the source, by the number of GPUs; 0 if it is not worked out. */
        private double[] known = {};

        private OfJob(JobView job) {
            this.fair = fair(job);
        }

        /**
         * The value of each number of GPUs of a kind.
         *
         * @param job as it is seen on the kind
         * @param left the share of its speedup that is left after a change
         */
        double[] values(JobView job, int kind, double left) {
            Optional<Goodput> goodput = job.goodput();
            double factor = goodput.isEmpty() ? 1 : factor(goodput.get(), gpusPerNode[kind]);
            double[] values = new double[Math.min(capacities[kind], Ats.largest(job)) + 1];
            boolean elastic = job.elastic();
            int least = job.least();
            int held = job.gpus().size();
            for (int w = 1; w < values.length; w++) {
                if ((elastic ? w >= least : w == least) && job.allows(w)) {
                    double speedup = goodput.isEmpty() ? (double) w / fairShare : factor * known(w);
                    values[w] = speedup * (w == held ? 1 : left);
                } else {
                    values[w] = Double.NEGATIVE_INFINITY;
                }
            }
            return values;
        }

        /** How many times the source a goodput is. It becomes the source if that is not known. */
        private double factor(Goodput goodput, int gpusOfNode) {
            OptionalDouble ratio =
                    source != null && perNode == gpusOfNode ? goodput.ratioTo(source) : OptionalDouble.empty();
            if (ratio.isEmpty()) {
                source = goodput;
                perNode = gpusOfNode;
                known = new double[0];
            }
            return ratio.orElse(1);
        }

        private double known(int gpus) {
            if (gpus >= known.length) {
                known = Arrays.copyOf(known, Math.max(gpus + 1, 2 * known.length));
            }
            if (known[gpus] == 0 && fair > 0) {
                known[gpus] = Objects.requireNonNull(source).packed(perNode, gpus) / fair;
            }
            return known[gpus];
        }
    }

    /** The usual goodput of a job with a fair share; 0 if it is not known. */
    private double fair(JobView job) {
        Optional<Goodput> usual = job.usualGoodput();
        Optional<Goodput> base = usual.isPresent() ? usual : job.goodput();
        return base.isPresent() ? base.get().on(fairNodes, Math.max(fairShare, fairNodes)) : 0;
    }
}

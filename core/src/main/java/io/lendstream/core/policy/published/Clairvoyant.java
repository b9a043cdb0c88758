package io.lendstream.core.policy.published;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.ats.ReclaimsByLeastLoss;
import io.lendstream.core.policy.placement.GroupKnapsack;
import io.lendstream.core.policy.placement.InPlacePlacement;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The oracle that other policies are compared with. It knows the remaining work of every job and its speed on any
 * number of GPUs, and gives GPUs to the jobs where they shorten all jobs together most.
 *
 * <p>Maximises the sum of speedups over one GPU, each weighed by the reduction of the sum of completion times for each
 * second of the job's work. For jobs whose speedup on {@code n} GPUs is {@code n^scaling}, and none to come, that is
 * known: {@code (i^p - (i-1)^p)^(1/p)} with {@code p = 1 / (1 - scaling)} for the job that is {@code i}-th from the
 * longest. So short jobs go first the more, the better jobs scale. Here each job has its own speedup, and only the
 * weights assume a common one.
 *
 * <p>A change of GPUs counts only for the rest of the {@code payback} time, or of the job if that is shorter, after its
 * pause. A start is assumed to cost nothing, because it cannot be avoided. No job is bound to twice the GPUs it has run
 * on, as with DeepBoot: its speed beyond is known.
 *
 * <p>It trusts the total work that a job reports, less the work done, and the job's goodput model with the gradient
 * noise last measured. All jobs of a replay report their total at submission. It does not know the noise of later
 * epochs. For a job without a total, the remaining work is assumed to equal the work done. It does not see future
 * demand. It plans twice a minute; a plan every 5 s gave no better result for the preset day, because it made more
 * changes. It is a strong heuristic, not a proven bound.
 *
 * @param scaling exponent of the speedup that weights assume; from 0, at which all jobs count alike, to below 1
 * @param payback within which a change has to pay
 * @param planEvery how often training is planned
 * @see <a href="https://arxiv.org/abs/1903.09346">Berg, Vesilo, Harchol-Balter: "heSRPT: Optimal Parallel Scheduling of
 *     Jobs With Known Sizes", 2019</a>
 * @see <a href="https://www.usenix.org/conference/osdi21/presentation/qiao">Pollux, OSDI 2021, on goodput and
 *     restarts</a>
 */
public record Clairvoyant(double scaling, Duration payback, Duration planEvery) implements ReclaimsByLeastLoss {
    public Clairvoyant {
        if (!(scaling >= 0 && scaling < 1)) {
            throw new IllegalArgumentException(
                    "scaling of policy clairvoyant must be at least 0 and below 1, but was " + scaling);
        }
    }

    @Override
    public PolicyInfo info() {
        return new PolicyInfo(
                "clairvoyant",
                "the oracle: knows the remaining work and speed of all jobs, and ends them all soonest",
                true,
                true,
                false);
    }

    @Override
    public Plan plan(ClusterView cluster) {
        List<JobView> jobs = cluster.open();
        SizeReasons reasons = new SizeReasons(cluster);
        int capacity = cluster.capacity();
        double[] alone =
                jobs.stream().mapToDouble(job -> job.pace().remainingSeconds(1)).toArray();
        List<Integer> longestFirst = IntStream.range(0, alone.length)
                .boxed()
                .sorted(Comparator.comparingDouble(i -> -alone[i]))
                .toList();
        double[] weights = new double[alone.length];
        for (int rank = 1; rank <= alone.length; rank++) {
            int i = longestFirst.get(rank - 1);
            weights[i] = weight(rank);
        }
        List<double[]> values = IntStream.range(0, alone.length)
                .mapToObj(i -> values(jobs.get(i), capacity, weights[i], alone[i]))
                .toList();
        int[] sizes = GroupKnapsack.choose(values, capacity);
        return InPlacePlacement.place(cluster, jobs, sizes, (job, size) -> reason(reasons, job, size));
    }

    private static PlanReason reason(SizeReasons reasons, JobView job, int size) {
        double remaining = job.pace().remainingSeconds(1);
        return reasons.of(
                job,
                size,
                "so all jobs together should end soonest; %.0f s of its work remain on 1 GPU".formatted(remaining),
                Map.of("remainingSecondsOnOne", remaining));
    }

    /** By how much all completion times together shrink for each second of work done for the job at a rank. */
    private double weight(int rank) {
        double power = 1 / (1 - scaling);
        return Math.pow(Math.pow(rank, power) - Math.pow(rank - 1, power), 1 - scaling);
    }

    /** What a job is worth by its number of GPUs. */
    private double[] values(JobView job, int capacity, double weight, double alone) {
        double[] values = new double[Math.min(capacity, job.most()) + 1];
        for (int w = 1; w < values.length; w++) {
            double remaining = job.pace().remainingSeconds(w);
            values[w] = w < job.least() || !job.allows(w)
                    ? Double.NEGATIVE_INFINITY
                    : weight
                            * alone
                            / remaining
                            * leftAfterChange(job.costs(), job.gpus().size(), w, remaining);
        }
        return values;
    }

    /** Share of the payback time, or of the job, in which it trains after a change. */
    private double leftAfterChange(RescaleCosts costs, int from, int to, double remaining) {
        if (from == to || from == 0) {
            return 1;
        }
        double pause = costs.delay(from, to, true).toMillis() / 1000.0;
        double within = Math.min(payback.toMillis() / 1000.0, remaining + pause);
        return Math.max(0, 1 - pause / within);
    }

    @Override
    public String spec() {
        return "clairvoyant:scaling=" + scaling + ":payback=" + payback.toSeconds() + "s:plan-every="
                + planEvery.toSeconds() + "s";
    }
}

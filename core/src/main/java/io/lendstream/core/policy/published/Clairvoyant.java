package io.lendstream.core.policy.published;

import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.ats.ReclaimsByLeastLoss;
import io.lendstream.core.policy.jct.JctObjective;
import io.lendstream.core.policy.placement.GroupKnapsack;
import io.lendstream.core.policy.placement.InPlacePlacement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The oracle that other policies are compared with. It knows the remaining work of every job and its speed on any
 * number of GPUs, and gives GPUs to the jobs where they shorten all jobs together most.
 *
 * <p>Maximises {@link JctObjective}. No job is bound to twice the GPUs it has run on, as with DeepBoot: its speed
 * beyond is known.
 *
 * <p>It trusts the total work that a job reports, less the work done, and the job's goodput model with the gradient
 * noise last measured. All jobs of a replay report their total at submission. It does not know the noise of later
 * epochs. For a job without a total, the remaining work is assumed to equal the work done. It does not see future
 * demand. It plans twice a minute; a plan every 5 s gave no better result for the preset day, because it made more
 * changes. It is a strong heuristic, not a proven bound.
 *
 * @param objective what GPUs are worth to jobs
 * @param planEvery how often training is planned
 */
public record Clairvoyant(JctObjective objective, Duration planEvery) implements ReclaimsByLeastLoss {
    public Clairvoyant {
        objective = objective.checked("clairvoyant");
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
        double[] weights = objective.weights(alone);
        List<double[]> values = IntStream.range(0, alone.length)
                .mapToObj(i -> objective.values(jobs.get(i), capacity, weights[i], alone[i], cluster.now()))
                .toList();
        int[] sizes = GroupKnapsack.choose(values, capacity);
        return InPlacePlacement.place(cluster, jobs, sizes, (job, size) -> reason(reasons, job, size));
    }

    private static PlanReason reason(SizeReasons reasons, JobView job, int size) {
        double remaining = job.pace().remainingSeconds(1);
        return reasons.of(
                job,
                size,
                "so jobs should end soonest on average; %.0f s of its work remain on 1 GPU".formatted(remaining),
                Map.of("remainingSecondsOnOne", remaining));
    }

    @Override
    public String spec() {
        return "clairvoyant:scaling=" + objective.scaling() + ":payback="
                + objective.payback().toSeconds() + "s:plan-every="
                + planEvery.toSeconds() + "s";
    }
}

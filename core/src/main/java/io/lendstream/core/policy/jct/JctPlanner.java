package io.lendstream.core.policy.jct;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.Resized;
import io.lendstream.core.policy.placement.GroupKnapsack;
import io.lendstream.core.policy.placement.InPlacePlacement;
import io.lendstream.core.policy.placement.WeighedSizes;
import io.lendstream.core.policy.reclaim.SpeedMeasure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Plans and reclaims by {@link JctObjective}, in one view of the cluster. A job that had less than an equal share
 * of the GPUs weighs more, so that long jobs do not wait for ever, and so does one that would miss its deadline.
 */
final class JctPlanner implements SpeedMeasure {
    private static final String SUM = "weighted sum of speeds";
    /** A running job goes before a waiting one that is ranked alike. */
    private static final double ALIKE = 1 - 1e-9;
    /** Seconds of work that a job has at least, if its total is not known. */
    private static final double LEAST_GUESS = 60;

    private final ClusterView cluster;
    private final JctObjective objective;
    private final int jobs;
    private final Map<JobId, Weighed> weighed;

    /**
     * A job.
     *
     * @param alone seconds of its work that remain on one GPU
     * @param weight of its speed in the sum over all jobs
     * @param late how late it is, which is in the weight
     */
    private record Weighed(double alone, double weight, Lateness late) {}

    private JctPlanner(ClusterView cluster, JctObjective objective, List<JobView> jobs) {
        this.cluster = cluster;
        this.objective = objective;
        this.jobs = jobs.size();
        this.weighed = new HashMap<>(2 * this.jobs);
        double[] alone = new double[this.jobs];
        for (int i = 0; i < alone.length; i++) {
            alone[i] = jobs.get(i).pace().remainingSeconds(1);
        }
        double[] ranked = new double[this.jobs];
        for (int i = 0; i < alone.length; i++) {
            ranked[i] = ranked(jobs.get(i), alone[i]);
        }
        double[] weights = objective.weights(ranked);
        double share = (double) cluster.gpuCount() / Math.max(1, cluster.jobCount());
        for (int i = 0; i < alone.length; i++) {
            Lateness late = Lateness.of(jobs.get(i), share, cluster.now());
            weighed.put(jobs.get(i).job(), new Weighed(alone[i], weights[i] * late.factor(), late));
        }
    }

    /**
     * The remaining work by which a job is ranked. Where only the work done says something about it, that is rounded to
     * powers of two, so that two such jobs do not overtake each other again and again; a job that reports nothing
     * counts by its GPU time. So does a job whose speed is not known before it has run for a while: it starts soon, and
     * its first step tells. If it waited by a guess that is too long, nothing would ever correct that.
     */
    static double ranked(JobView job, double alone) {
        boolean isKnown = job.isSpeedKnown() || job.attainedGpuSeconds() > LEAST_GUESS;
        if (isKnown && job.pace().isTotalKnown()) {
            return alone;
        }
        double worked = isKnown ? Math.max(alone, job.attainedGpuSeconds()) : job.attainedGpuSeconds();
        double done = Math.max(LEAST_GUESS, worked);
        return Math.scalb(job.gpus().isEmpty() ? 1.0 : ALIKE, Math.getExponent(done));
    }

    /** A planner for all jobs. */
    static JctPlanner ofAll(ClusterView cluster, JctObjective objective) {
        return new JctPlanner(cluster, objective, cluster.jobs());
    }

    /** A planner for the jobs that hold GPUs, which is enough to choose what they give up. */
    static JctPlanner ofHolding(ClusterView cluster, JctObjective objective) {
        return new JctPlanner(cluster, objective, cluster.holding());
    }

    Plan plan() {
        List<JobView> open = cluster.open();
        int[] sizes = GroupKnapsack.choose(values(open), cluster.capacity());
        return InPlacePlacement.place(cluster, open, sizes, this::reason);
    }

    private List<double[]> values(List<JobView> open) {
        int capacity = cluster.capacity();
        List<double[]> values = new ArrayList<>(open.size());
        for (JobView job : open) {
            Weighed own = of(job);
            double[] sizes = objective.values(job, capacity, own.weight, own.alone, cluster.now());
            double kept = objective.stop(job, own.weight, own.alone);
            for (int size = 1; size < sizes.length; size++) {
                sizes[size] += kept;
            }
            values.add(sizes);
        }
        return values;
    }

    private Weighed of(JobView job) {
        return weighed.getOrDefault(job.job(), new Weighed(0, 0, Lateness.NONE));
    }

    /** The sizes that a plan weighs for a job; none if it must keep what it has. */
    List<Alternative> sizes(JobId name) {
        List<JobView> open = cluster.open();
        for (int i = 0; i < open.size(); i++) {
            if (open.get(i).job().equals(name)) {
                return new WeighedSizes(values(open), cluster.capacity(), i)
                        .alternatives(name, SUM, SUM + " over all jobs (1 = " + unit() + ")");
            }
        }
        return List.of();
    }

    @Override
    public double speed(JobView job, int nodes, int gpus) {
        if (gpus == 0) {
            return 0;
        }
        Weighed own = of(job);
        double packed = own.alone / job.pace().remainingSeconds(gpus);
        int fewest = Math.max(1, (gpus + cluster.gpusPerNode() - 1) / Math.max(1, cluster.gpusPerNode()));
        double spread = nodes <= fewest
                ? 1
                : job.goodput()
                        .map(goodput -> {
                            double best = goodput.on(fewest, gpus);
                            return best > 0 ? goodput.on(nodes, gpus) / best : 1;
                        })
                        .orElse(1.0);
        return own.weight * packed * spread;
    }

    @Override
    public String unit() {
        return "the speed on 1 GPU of the job with the most work left, if it is not late";
    }

    /** The reason for a new size: what remains, the speeds before and after, and what the change costs. */
    private PlanReason reason(JobView job, int size) {
        Weighed own = of(job);
        Map<String, Double> numbers = new TreeMap<>();
        numbers.put("remainingSecondsOnOne", own.alone);
        numbers.put("weight", own.weight);
        numbers.put("lateness", own.late.behind());
        own.late.pressure().ifPresent(pressed -> numbers.put("deadlinePressure", pressed));
        numbers.put("gpus", (double) cluster.gpuCount());
        numbers.put("jobs", (double) jobs);
        String text = "%s %s: %s, so jobs should end soonest on average; %s, weight %.2f%s (%s, %s)"
                .formatted(
                        job.job(),
                        Resized.of(cluster, job, size).inWords(),
                        gain(job, size, own.alone, numbers),
                        work(job, own.alone),
                        own.weight,
                        own.late.inWords(),
                        Reason.counted(cluster.gpuCount(), "GPU"),
                        Reason.counted(jobs, "job"));
        return new PlanReason(text, numbers);
    }

    private static String work(JobView job, double alone) {
        if (!job.isSpeedKnown()) {
            return "it has reported no step times yet, so its speed is not known";
        }
        return job.pace().isTotalKnown()
                ? "%.0f s of its work remain on 1 GPU".formatted(alone)
                : "how much of its work remains is not known";
    }

    /**
     * What a new size brings and costs, in words.
     *
     * @param numbers takes its numbers
     */
    private static String gain(JobView job, int size, double alone, Map<String, Double> numbers) {
        int held = job.gpus().size();
        double before = held == 0 ? 0 : alone / job.pace().remainingSeconds(held);
        double after = size == 0 ? 0 : alone / job.pace().remainingSeconds(size);
        numbers.put("speedBefore", before);
        numbers.put("speedAfter", after);
        if (size == 0) {
            return "other jobs shorten all completion times more with the GPUs";
        }
        String gain = "%.1f times as fast as on 1 GPU".formatted(after);
        if (held == 0) {
            return gain;
        }
        double pause = JctObjective.pause(job.costs(), held, size);
        numbers.put("pauseSeconds", pause);
        gain += " instead of %.1f times, for a pause of %.0f s".formatted(before, pause);
        if (after <= before) {
            return gain;
        }
        double payback = pause * after / (after - before);
        numbers.put("paybackSeconds", payback);
        return gain + " that pays back in %.0f s".formatted(payback);
    }
}

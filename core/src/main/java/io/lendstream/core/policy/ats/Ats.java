package io.lendstream.core.policy.ats;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Limits;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Goodput;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.placement.FreeGpusByNode;
import io.lendstream.core.policy.placement.FreshPlacement;
import io.lendstream.core.policy.placement.GroupKnapsack;
import io.lendstream.core.policy.placement.InPlacePlacement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Adaptive task scaling: sizes by a group knapsack over speedups weighed by the cost of a restart, and reclaims by least
 * loss of speedup.
 *
 * <p>A job's speedup with {@code w} GPUs is its goodput there over its goodput with a fair share. Changing its size is
 * weighed by {@code (age - 10 s x changes) / (age + 10 s)}, so that young and often changed jobs are left alone. A job may at
 * most double the largest size it has run at, for its speed beyond that is not known. The fair share of one of whom nothing is
 * known yet is taken to speed it up in proportion.
 *
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023, section 4</a>
 */
public final class Ats {
    private static final int LARGEST_JOB = 64;
    private static final Duration RESTART = Duration.ofSeconds(10);

    private final ClusterView cluster;
    private final int fairShare;
    private final int fairNodes;
    private final Map<JobId, Double> fairGoodput = new HashMap<>();

    public Ats(ClusterView cluster) {
        this.cluster = cluster;
        int gpus = Math.max(1, cluster.gpuCount());
        this.fairShare = ceilDiv(gpus, Math.max(1, cluster.jobCount()));
        this.fairNodes = Math.max(1, ceilDiv(cluster.nodes(), gpus));
    }

    /** A plan in which jobs stay where they are as far as that costs no spread. */
    Plan plan() {
        List<JobView> open = leastServedFirst();
        return placed(open, sizes(open), cluster.capacity());
    }

    /** A plan in which jobs whose size changes are placed from scratch. */
    Plan planAfresh() {
        List<JobView> open = leastServedFirst();
        return FreshPlacement.place(cluster, open, sizes(open), FreeGpusByNode.Fit.TIGHTEST, 0);
    }

    /** The jobs that may be changed, those that were given least first. */
    public List<JobView> leastServedFirst() {
        return cluster.open().stream()
                .sorted(Comparator.comparingDouble(JobView::attainedGpuSeconds).thenComparing(JobView::submittedAt))
                .toList();
    }

    private int[] sizes(List<JobView> open) {
        return GroupKnapsack.choose(values(open), cluster.capacity());
    }

    private List<double[]> values(List<JobView> open) {
        int capacity = cluster.capacity();
        return open.stream().map(job -> values(job, capacity)).toList();
    }

    /** What all jobs together would come to with each size of one of them, the others as well off as they can be then. */
    List<Alternative> sizes(JobId name) {
        List<JobView> open = leastServedFirst();
        int at = 0;
        while (at < open.size() && !open.get(at).job().equals(name)) {
            at++;
        }
        if (at == open.size()) {
            return List.of();
        }
        List<double[]> values = values(open);
        int chosen = GroupKnapsack.choose(values, cluster.capacity())[at];
        double[] mine = values.get(at);
        List<double[]> others = new ArrayList<>(values);
        others.remove(at);
        double best = mine[chosen] + best(others, cluster.capacity() - chosen);
        List<Alternative> sizes = new ArrayList<>();
        for (int size = 0; size < mine.length; size++) {
            if (mine[size] == Double.NEGATIVE_INFINITY) {
                continue;
            }
            double sum = mine[size] + best(others, cluster.capacity() - size);
            String why = size == chosen
                    ? "all jobs together come to most with it"
                    : "all jobs together would come to %.3f less".formatted(Math.max(0, best - sum));
            sizes.add(
                    new Alternative(name, List.of(), size, sum, "sum of speedups over all jobs", size == chosen, why));
        }
        return sizes;
    }

    private static double best(List<double[]> values, int capacity) {
        int[] sizes = GroupKnapsack.choose(values, capacity);
        double sum = 0;
        for (int i = 0; i < sizes.length; i++) {
            sum += values.get(i)[sizes[i]];
        }
        return sum;
    }

    /** Lent GPUs whose loss costs the least speedup in sum, taken one by one. */
    List<GpuId> victims(int count) {
        return new LeastLoss(cluster, this).victims(count);
    }

    /** The loans that were weighed for that: those that were chosen, in their order, and those that were left in the end. */
    List<Alternative> losses(int count) {
        return new LeastLoss(cluster, this).losses(count);
    }

    private Plan placed(List<JobView> open, int[] sizes, int capacity) {
        return InPlacePlacement.place(
                cluster,
                open,
                sizes,
                (job, size) -> "from %d to %s: speedup %.2f to %.2f of a fair share of %d, %s for %s"
                        .formatted(
                                job.gpus().size(),
                                Reason.counted(size, "GPU"),
                                idealSpeedup(job, job.gpus().size()),
                                idealSpeedup(job, size),
                                fairShare,
                                Reason.counted(capacity, "GPU"),
                                Reason.counted(open.size(), "job")));
    }

    private double[] values(JobView job, int capacity) {
        int most = Math.min(capacity, largest(job));
        double[] values = new double[most + 1];
        double factor = restartFactor(job, cluster.now(), RESTART);
        for (int w = 1; w <= most; w++) {
            boolean allowed = job.elastic() ? w >= job.minGpus() : w == Math.min(job.requestedGpus(), job.maxGpus());
            values[w] = !allowed
                    ? Double.NEGATIVE_INFINITY
                    : idealSpeedup(job, w) * (w == job.gpus().size() ? 1 : factor);
        }
        return values;
    }

    /** What is left of a job's speedup when its GPUs are changed now: little of a young and often changed one's. */
    public static double restartFactor(JobView job, Instant now, Duration restart) {
        double age = Limits.millis(job.age(now)) / 1000.0;
        double each = restart.toMillis() / 1000.0;
        return Math.max(age - each * job.changes(), 0) / (age + each);
    }

    /** Most GPUs that a job may be given now. */
    public int largest(JobView job) {
        if (!job.elastic()) {
            return job.requestedGpus();
        }
        int known = Math.max(Math.max(2 * job.largestRun(), 1), job.minGpus());
        return Math.min(Math.min(known, LARGEST_JOB), job.maxGpus());
    }

    private double idealSpeedup(JobView job, int replicas) {
        return speedup(job, ceilDiv(replicas, Math.max(1, cluster.gpusPerNode())), replicas);
    }

    /** Goodput over that with a fair share. */
    public double speedup(JobView job, int nodes, int replicas) {
        if (replicas == 0) {
            return 0;
        }
        Optional<Goodput> known = job.goodput();
        if (known.isEmpty()) {
            return (double) replicas / fairShare;
        }
        Goodput goodput = known.get();
        double base =
                fairGoodput.computeIfAbsent(job.job(), name -> goodput.on(fairNodes, Math.max(fairShare, fairNodes)));
        return base > 0 ? goodput.on(nodes, replicas) / base : 0;
    }

    private static int ceilDiv(int total, int each) {
        return (total + each - 1) / each;
    }
}

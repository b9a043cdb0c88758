package io.lendstream.core.lending;

import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.GpuState;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.cluster.JobState;
import io.lendstream.core.cluster.NodeId;
import io.lendstream.core.cluster.Owner;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.goodput.GoodputModel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Adaptive task scaling: sizes by a group knapsack over speedups weighed by the cost of a restart, and reclaims by least
 * loss of speedup.
 *
 * <p>A job's speedup with {@code w} GPUs is its goodput there over its goodput with a fair share. Changing its size is
 * weighed by {@code (age - 10 s x changes) / (age + 10 s)}, so that young and often changed jobs are left alone. A job may at
 * most double the largest size it has run at, for its speed beyond that is not known.
 *
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023, section 4</a>
 */
final class Ats {
    private static final int LARGEST_JOB = 64;
    private static final Duration RESTART = Duration.ofSeconds(10);

    private final ClusterView cluster;
    private final int fairShare;
    private final int fairNodes;
    private final Map<JobId, Double> fairGoodput = new HashMap<>();

    Ats(ClusterView cluster) {
        this.cluster = cluster;
        int gpus = Math.max(1, cluster.gpus().size());
        this.fairShare = ceilDiv(gpus, Math.max(1, cluster.jobs().size()));
        this.fairNodes = ceilDiv(fairShare, Math.max(1, cluster.gpusPerNode()));
    }

    Plan plan() {
        Set<JobId> fixed = new HashSet<>();
        cluster.fixedJobs().forEach(job -> fixed.add(job.spec().job()));
        List<JobState> open = cluster.jobs().stream()
                .filter(job -> !fixed.contains(job.spec().job()))
                .sorted(Comparator.<JobState>comparingDouble(job -> job.attainedBy(cluster.now()))
                        .thenComparing(job -> job.spec().submittedAt())
                        .thenComparing(job -> job.spec().job()))
                .toList();
        int capacity = cluster.gpus().size();
        for (JobState job : cluster.fixedJobs()) {
            capacity -= job.gpus();
        }
        capacity = Math.max(0, capacity);
        List<double[]> values = new ArrayList<>();
        for (JobState job : open) {
            values.add(values(job, capacity));
        }
        int[] sizes = GroupKnapsack.choose(values, capacity);
        return placed(open, sizes, capacity);
    }

    /** Lent GPUs whose loss costs the least speedup in sum, taken one by one. */
    List<GpuId> victims(int count) {
        Map<JobId, JobState> jobs = new TreeMap<>();
        cluster.jobs().forEach(job -> jobs.put(job.spec().job(), job));
        Map<GpuId, NodeId> nodes = new HashMap<>();
        Map<JobId, List<GpuId>> lent = new TreeMap<>();
        for (GpuState gpu : cluster.gpus()) {
            nodes.put(gpu.gpuId(), gpu.nodeId());
            if (gpu.owner() instanceof Owner.Lent loan && jobs.containsKey(loan.job())) {
                lent.computeIfAbsent(loan.job(), job -> new ArrayList<>()).add(gpu.gpuId());
            }
        }
        Map<JobId, List<GpuId>> holding = new TreeMap<>();
        lent.keySet()
                .forEach(job -> holding.put(
                        job, new ArrayList<>(jobs.get(job).allocation().gpus())));
        List<GpuId> taken = new ArrayList<>();
        while (taken.size() < count) {
            GpuId best = null;
            JobId bestJob = null;
            double leastLoss = Double.POSITIVE_INFINITY;
            for (Map.Entry<JobId, List<GpuId>> entry : lent.entrySet()) {
                JobState job = jobs.get(entry.getKey());
                List<GpuId> held = holding.get(entry.getKey());
                double before = speedup(job, nodesOf(held, nodes), held.size());
                Set<NodeId> tried = new HashSet<>();
                for (GpuId gpu : entry.getValue()) {
                    if (!tried.add(nodes.get(gpu))) {
                        continue;
                    }
                    double loss = before;
                    if (job.spec().elastic() && held.size() > job.spec().minGpus()) {
                        List<GpuId> rest = new ArrayList<>(held);
                        rest.remove(gpu);
                        loss = before - speedup(job, nodesOf(rest, nodes), rest.size());
                    }
                    if (loss < leastLoss) {
                        leastLoss = loss;
                        best = gpu;
                        bestJob = entry.getKey();
                    }
                }
            }
            if (best == null || bestJob == null) {
                break;
            }
            JobState job = jobs.get(bestJob);
            List<GpuId> held = holding.get(bestJob);
            List<GpuId> mine = lent.get(bestJob);
            if (job.spec().elastic() && held.size() > job.spec().minGpus()) {
                taken.add(best);
                held.remove(best);
                mine.remove(best);
            } else {
                taken.addAll(mine);
                held.clear();
                mine.clear();
            }
            if (mine.isEmpty()) {
                lent.remove(bestJob);
            }
        }
        return taken;
    }

    private Plan placed(List<JobState> open, int[] sizes, int capacity) {
        Placement placement = new Placement(cluster.gpus());
        cluster.fixedJobs().forEach(job -> placement.keep(job.allocation().gpus()));
        Map<JobId, List<GpuId>> targets = new TreeMap<>();
        Map<JobId, String> reasons = new TreeMap<>();
        List<Integer> changed = new ArrayList<>();
        Set<GpuId> usable = new HashSet<>();
        cluster.gpus().forEach(gpu -> usable.add(gpu.gpuId()));
        for (int i = 0; i < sizes.length; i++) {
            JobState job = open.get(i);
            if (sizes[i] == job.gpus() && usable.containsAll(job.allocation().gpus())) {
                placement.keep(job.allocation().gpus());
                targets.put(job.spec().job(), job.allocation().gpus());
            } else {
                changed.add(i);
            }
        }
        changed.sort(Comparator.<Integer>comparingInt(i -> sizes[i]).thenComparing(Comparator.naturalOrder()));
        for (int i : changed) {
            JobState job = open.get(i);
            List<GpuId> held =
                    job.allocation().gpus().stream().filter(usable::contains).toList();
            List<GpuId> target = sizes[i] == 0 ? List.of() : placement.place(sizes[i], held);
            targets.put(job.spec().job(), target);
            reasons.put(
                    job.spec().job(),
                    "from %d to %s: speedup %.2f to %.2f of a fair share of %d, %s for %s"
                            .formatted(
                                    job.gpus(),
                                    Reason.counted(target.size(), "GPU"),
                                    idealSpeedup(job, job.gpus()),
                                    idealSpeedup(job, target.size()),
                                    fairShare,
                                    Reason.counted(capacity, "GPU"),
                                    Reason.counted(open.size(), "job")));
        }
        return new Plan(targets, reasons);
    }

    private double[] values(JobState job, int capacity) {
        int most = Math.min(capacity, largest(job));
        double[] values = new double[most + 1];
        double age = job.age(cluster.now()).toMillis() / 1000.0;
        double restart = RESTART.toSeconds();
        double factor = Math.max(age - restart * job.changes(), 0) / (age + restart);
        for (int w = 1; w <= most; w++) {
            boolean allowed = job.spec().elastic()
                    ? w >= job.spec().minGpus()
                    : w == Math.min(job.spec().requestedGpus(), job.spec().maxGpus());
            values[w] = !allowed ? Double.NEGATIVE_INFINITY : idealSpeedup(job, w) * (w == job.gpus() ? 1 : factor);
        }
        return values;
    }

    private int largest(JobState job) {
        if (!job.spec().elastic()) {
            return job.spec().requestedGpus();
        }
        int known = Math.max(Math.max(2 * job.largestRun(), 1), job.spec().minGpus());
        int byBatch = Math.max(1, job.spec().batch().max() / job.spec().batch().localMin());
        return Math.min(Math.min(known, LARGEST_JOB), Math.min(job.spec().maxGpus(), byBatch));
    }

    private double idealSpeedup(JobState job, int replicas) {
        return speedup(job, ceilDiv(replicas, Math.max(1, cluster.gpusPerNode())), replicas);
    }

    private double speedup(JobState job, int nodes, int replicas) {
        if (replicas == 0) {
            return 0;
        }
        GoodputModel model = job.model();
        double base = fairGoodput.computeIfAbsent(
                job.spec().job(),
                name -> model.best(fairNodes, Math.max(fairShare, fairNodes)).goodput());
        return base > 0 ? model.best(nodes, replicas).goodput() / base : 0;
    }

    private static int nodesOf(List<GpuId> gpus, Map<GpuId, NodeId> nodes) {
        return (int) gpus.stream().map(nodes::get).distinct().count();
    }

    private static int ceilDiv(int total, int each) {
        return (total + each - 1) / each;
    }
}

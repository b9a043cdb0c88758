package io.lendstream.core.policy.ats;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.event.Limits;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Goodput;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.Resized;
import io.lendstream.core.policy.placement.FreeGpusByNode;
import io.lendstream.core.policy.placement.FreshPlacement;
import io.lendstream.core.policy.placement.GroupKnapsack;
import io.lendstream.core.policy.placement.InPlacePlacement;
import io.lendstream.core.policy.placement.WeighedSizes;
import io.lendstream.core.policy.reclaim.Reclaims;
import io.lendstream.core.policy.reclaim.SpeedMeasure;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Adaptive task scaling: chooses sizes by a group knapsack over speedups, and reclaims by the least loss of speedup.
 *
 * <p>A job's speedup with {@code w} GPUs is its goodput there over its goodput with a fair share. A change of size is
 * weighed by {@code (age - 10 s x changes) / (age + 10 s)}, so that young and often changed jobs keep their GPUs. A job
 * may at most double the largest size it has run at, because its speed beyond that is not known. A job without known
 * goodput is assumed to run in proportion to its GPUs.
 *
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023, section 4</a>
 */
public final class Ats implements SpeedMeasure {
    private static final int LARGEST_JOB = 64;
    private static final String SPEEDS = "sum of speeds over all jobs (1 = the speed with a fair share)";
    private static final Duration RESTART = Duration.ofSeconds(10);

    private final ClusterView cluster;
    private final int fairShare;
    private final int fairNodes;
    private final Map<JobId, Double> fairGoodput = new HashMap<>();

    public Ats(ClusterView cluster) {
        this.cluster = cluster;
        int some = Math.max(1, cluster.gpuCount());
        this.fairShare = ceilDiv(some, Math.max(1, cluster.jobCount()));
        this.fairNodes = Math.max(1, ceilDiv(cluster.nodes(), some));
    }

    /** A plan in which jobs keep their GPUs unless that spreads them over more nodes. */
    Plan plan() {
        List<JobView> open = leastServedFirst();
        return InPlacePlacement.place(cluster, open, sizes(open), this::reason);
    }

    /** A plan in which jobs whose size changes are placed from scratch. */
    Plan planAfresh() {
        List<JobView> open = leastServedFirst();
        return FreshPlacement.place(cluster, open, sizes(open), FreeGpusByNode.Fit.TIGHTEST, 0, this::reason);
    }

    /** The jobs that may be changed, by GPU time given so far, least first. */
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
        return open.stream().map(job -> values(job, capacity, changed(job))).toList();
    }

    /**
     * The sum of speeds over all jobs for each size of one job, with the best sizes of the others. A size that only the
     * doubling rule forbids is the last.
     */
    List<Alternative> sizes(JobId name) {
        List<JobView> open = leastServedFirst();
        int at = 0;
        while (at < open.size() && !open.get(at).job().equals(name)) {
            at++;
        }
        if (at == open.size()) {
            return List.of();
        }
        WeighedSizes weighed = new WeighedSizes(values(open), cluster.capacity(), at);
        List<Alternative> sizes = weighed.alternatives(name, "sum of speeds", SPEEDS);
        JobView job = open.get(at);
        int next = job.next(largest(job));
        Optional<String> limit = limit(job).filter(any -> next <= cluster.capacity());
        limit.ifPresent(why -> sizes.add(new Alternative(
                name,
                List.of(),
                next,
                weighed.sumWith(next, idealSpeedup(job, next) * changed(job)),
                SPEEDS,
                false,
                why)));
        return sizes;
    }

    /** Lent GPUs whose loss costs the least speedup in sum, chosen one by one. */
    List<GpuId> victims(int count) {
        return Reclaims.victims(cluster, this, count);
    }

    /** The loans that {@link #victims} weighed: the chosen ones in their order, then the rest, least loss first. */
    List<Alternative> losses(int count) {
        return Reclaims.losses(cluster, this, count);
    }

    /** The reason for a new size: the job's speed before and after, as a share of its speed with a fair share. */
    private PlanReason reason(JobView job, int size) {
        int held = job.gpus().size();
        double before = idealSpeedup(job, held);
        double after = idealSpeedup(job, size);
        String share = "fair share: " + fairShare + " of " + Reason.counted(cluster.gpuCount(), "GPU") + ", "
                + Reason.counted(cluster.jobCount(), "job");
        Resized change = Resized.of(cluster, job, size);
        String gain = size == 0
                ? gainOfOthers(change, before)
                : "it will run at " + Wording.percent(after) + " of its fair-share speed"
                        + (held == 0 ? "" : " instead of " + Wording.percent(before));
        String limited =
                size == largest(job) ? limit(job).map(why -> "; " + why).orElse("") : "";
        return new PlanReason(
                job.job() + " " + change.inWords() + ": " + gain + " (" + share + ")" + limited,
                Map.of(
                        "speedBefore", before,
                        "speedAfter", after,
                        "fairShareGpus", (double) fairShare,
                        "gpus", (double) cluster.gpuCount(),
                        "jobs", (double) cluster.jobCount()));
    }

    private static String gainOfOthers(Resized change, double before) {
        return change.lost() > 0
                ? "other jobs gain more speed from the GPUs that are left"
                : "other jobs gain more speed from " + (change.held() == 1 ? "it" : "them") + " than the "
                        + Wording.percent(before) + " of its fair-share speed that it loses";
    }

    /**
     * The value of each size of a job.
     *
     * @param changed the share of its speedup that is left after a change
     */
    private double[] values(JobView job, int capacity, double changed) {
        int most = Math.min(capacity, largest(job));
        double[] values = new double[most + 1];
        Optional<Goodput> goodput = job.goodput();
        double base = goodput.isPresent() ? fairGoodput(job, goodput.get()) : 1;
        int perNode = Math.max(1, cluster.gpusPerNode());
        int held = job.gpus().size();
        for (int w = 1; w <= most; w++) {
            if (!isAllowed(job, w)) {
                values[w] = Double.NEGATIVE_INFINITY;
            } else if (goodput.isEmpty()) {
                values[w] = (double) w / fairShare * (w == held ? 1 : changed);
            } else if (base > 0) {
                values[w] = goodput.get().packed(perNode, w) / base * (w == held ? 1 : changed);
            }
        }
        return values;
    }

    /** Whether a job may have a number of GPUs, up to {@link #largest}. */
    private static boolean isAllowed(JobView job, int gpus) {
        boolean isInRange = job.elastic() ? gpus >= job.minGpus() : gpus == job.requestedGpus();
        return isInRange && job.allows(gpus);
    }

    private double changed(JobView job) {
        return changed(job, cluster.now());
    }

    /** The share of a job's speedup that is left after a change of its size. */
    private static double changed(JobView job, Instant now) {
        return changed(Limits.millis(job.age(now)), job);
    }

    /**
     * The same, from the age of a job.
     *
     * @param age in milliseconds
     */
    static double changed(long age, JobView job) {
        return restartFactor(age, job, RESTART);
    }

    /**
     * The share of a job's speedup that is left after a change now: little for a young or often changed job.
     *
     * @param restart what one change costs, if that is not measured
     */
    public static double restartFactor(JobView job, Instant now, Duration restart) {
        return restartFactor(Limits.millis(job.age(now)), job, restart);
    }

    private static double restartFactor(long ageMillis, JobView job, Duration restart) {
        double age = ageMillis / 1000.0;
        double each = job.measuredChange().orElse(restart).toMillis() / 1000.0;
        return Math.max(age - each * job.changes(), 0) / (age + each);
    }

    /** The sentence about the doubling rule, if that rule alone keeps a job from more GPUs. */
    public Optional<String> limit(JobView job) {
        int most = largest(job);
        if (!job.elastic() || most == 0 || most >= LARGEST_JOB || most >= job.maxGpus()) {
            return Optional.empty();
        }
        String rule = job.largestRun() == 0
                ? "it has not run yet, and a job may at most double the GPUs it has run on"
                : "a job may at most double the GPUs it has run on (" + job.largestRun() + ")";
        return Optional.of(job.job() + " may use at most " + Reason.counted(most, "GPU") + " now: " + rule);
    }

    /** The most GPUs that a job may use now. */
    public static int largest(JobView job) {
        if (!job.elastic()) {
            return job.requestedGpus();
        }
        int known = Math.max(Math.max(2 * job.largestRun(), job.next(job.largestRun())), job.minGpus());
        return job.fit(Math.min(Math.min(known, LARGEST_JOB), job.maxGpus()));
    }

    private double idealSpeedup(JobView job, int replicas) {
        return speedup(job, fewestNodes(replicas), replicas);
    }

    private int fewestNodes(int replicas) {
        return ceilDiv(replicas, Math.max(1, cluster.gpusPerNode()));
    }

    /** The goodput over the goodput with a fair share. */
    public double speedup(JobView job, int nodes, int replicas) {
        if (replicas == 0) {
            return 0;
        }
        Optional<Goodput> goodput = job.goodput();
        return speedup(goodput, goodput.map(known -> fairGoodput(job, known)).orElse(1.0), nodes, replicas);
    }

    @Override
    public double speed(JobView job, int nodes, int gpus) {
        return speedup(job, nodes, gpus);
    }

    @Override
    public String unit() {
        return "the speed of a job with a fair share";
    }

    private double speedup(Optional<Goodput> goodput, double base, int nodes, int replicas) {
        if (goodput.isEmpty()) {
            return (double) replicas / fairShare;
        }
        return base > 0 ? goodput.get().on(nodes, replicas) / base : 0;
    }

    private double fairGoodput(JobView job, Goodput own) {
        return fairGoodput.computeIfAbsent(
                job.job(), name -> job.usualGoodput().orElse(own).on(fairNodes, Math.max(fairShare, fairNodes)));
    }

    static int ceilDiv(int total, int each) {
        return (total + each - 1) / each;
    }
}

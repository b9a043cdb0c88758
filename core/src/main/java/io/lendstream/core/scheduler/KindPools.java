package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobInPool;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.UsableGpus;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QueuePosition;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.StreamSupport;

/**
 * Plans training where a domain has GPUs of several kinds. Policies do not know kinds: each kind is planned apart, with
 * the jobs that {@link KindChoice} gives to it. If all GPUs are of one kind, the policy sees the whole domain. Kinds
 * that training may not use now count too, so that no job gets too little memory while they are busy.
 */
final class KindPools {
    private final StepBuilder builder;
    private final Policy policy;
    private final TrainingView training;

    KindPools(StepBuilder builder, Policy policy, TrainingView training) {
        this.builder = builder;
        this.policy = policy;
        this.training = training;
    }

    /** The plan of all kinds. */
    Plan plan(ClusterView view) {
        if (builder.clusterIndex().trainingCapacity().kinds().size() < 2) {
            Plan plan = policy.plan(view);
            builder.listener().planned(view, plan);
            return plan;
        }
        Map<JobId, KindId> kinds = KindChoice.of(builder, view);
        explainUnfit(view, kinds);
        List<Plan> plans = new ArrayList<>();
        for (ClusterView part : parts(view, kinds)) {
            Plan plan = policy.plan(part);
            builder.listener().planned(part, plan);
            plans.add(unmixed(part, plan));
        }
        return merged(plans);
    }

    /** The plan in which jobs that hold other kinds too give these up, where the policy leaves them as they are. */
    private static Plan unmixed(ClusterView part, Plan plan) {
        Map<JobId, List<GpuId>> targets = new TreeMap<>(plan.targets());
        Map<JobId, PlanReason> reasons = new TreeMap<>(plan.reasons());
        for (JobView job : part.holding()) {
            if (!(job instanceof JobInPool mixed) || part.fixed().contains(job.job())) {
                continue;
            }
            Optional<PlanReason> changed = Optional.ofNullable(reasons.get(job.job()));
            if (changed.isPresent()) {
                reasons.put(job.job(), PlanReason.later(() -> withOthers(mixed, changed.get())));
                continue;
            }
            int held = job.gpus().size();
            boolean runs = held >= job.least()
                    && targets.getOrDefault(job.job(), job.gpus()).size() == held;
            targets.put(job.job(), runs ? job.gpus() : List.of());
            reasons.put(job.job(), PlanReason.later(() -> ofOneKind(job, runs)));
        }
        return new Plan(targets, reasons, plan.standings(), plan.left(), plan.holdsUntil());
    }

    /** The reason of a policy, which does not know the GPUs of other kinds. */
    private static PlanReason withOthers(JobInPool job, PlanReason why) {
        int others = job.whole().gpus().size() - job.gpus().size();
        return new PlanReason(
                "%s; it gives up %s of another kind".formatted(why.text(), Reason.counted(others, "GPU")),
                why.numbers());
    }

    private static PlanReason ofOneKind(JobView job, boolean runs) {
        String does = runs ? "keeps " + Reason.counted(job.gpus().size(), "GPU") + " of one kind" : "waits";
        return new PlanReason(
                "%s %s: a job uses one kind of GPU at a time, and it has several".formatted(job.job(), does), Map.of());
    }

    private void explainUnfit(ClusterView view, Map<JobId, KindId> kinds) {
        if (builder.listener() == StepListener.NONE) {
            return;
        }
        for (JobView job : view.jobs()) {
            if (!kinds.containsKey(job.job())) {
                long bytes = builder.jobs()
                        .require(job.job())
                        .spec()
                        .sliceMemoryBytes()
                        .orElse(0L);
                builder.listener()
                        .vetoed(
                                job.job(),
                                "no kind of GPU of the domain has the %.1f GiB that a replica of it needs (sliceMemoryBytes)"
                                        .formatted((double) bytes / (1L << 30)));
            }
        }
    }

    /** The view of each kind, in the order of their names. */
    private List<ClusterView> parts(ClusterView view, Map<JobId, KindId> kinds) {
        SortedMap<KindId, List<GpuState>> gpus = new TreeMap<>();
        for (GpuState gpu : view.gpus()) {
            gpu.kind()
                    .filter(kind -> isOf(kind, gpu, kinds))
                    .ifPresent(kind ->
                            gpus.computeIfAbsent(kind, any -> new ArrayList<>()).add(gpu));
        }
        // A job whose GPUs cannot be used now is planned too: its policy may suspend it.
        kinds.values().forEach(kind -> gpus.computeIfAbsent(kind, any -> new ArrayList<>()));
        Map<KindId, Map<NodeId, Integer>> nodes = nodes();
        List<ClusterView> parts = new ArrayList<>();
        gpus.forEach((kind, theirs) -> {
            Map<NodeId, Integer> counts = nodes.getOrDefault(kind, Map.of());
            int largest =
                    counts.values().stream().mapToInt(count -> count).max().orElse(1);
            List<JobView> jobs = StreamSupport.stream(view.queue().spliterator(), false)
                    .filter(job -> kind.equals(kinds.get(job.job())))
                    .map(job -> seen(job, kind, largest))
                    .toList();
            Set<JobId> fixed = new HashSet<>(view.fixed());
            fixed.removeIf(job -> !kind.equals(kinds.get(job)));
            ClusterView.Queue queue = new ClusterView.Queue(
                    jobs,
                    jobs.size(),
                    view.holding().stream()
                            .filter(job -> kind.equals(kinds.get(job.job())))
                            .map(job -> seen(job, kind, largest))
                            .toList());
            parts.add(ClusterView.of(view.now(), queue, UsableGpus.of(theirs), fixed, counts.size(), largest));
        });
        return parts;
    }

    /** Whether no job of another kind holds a GPU. A job may hold two kinds from before an upgrade. */
    private static boolean isOf(KindId kind, GpuState gpu, Map<JobId, KindId> kinds) {
        return gpu.owner()
                .holdingJob()
                .flatMap(job -> Optional.ofNullable(kinds.get(job)))
                .filter(other -> !other.equals(kind))
                .isEmpty();
    }

    /** How many whole GPUs of each kind each node has. */
    private Map<KindId, Map<NodeId, Integer>> nodes() {
        Map<KindId, Map<NodeId, Integer>> nodes = new HashMap<>();
        for (GpuState gpu : builder.clusterIndex().gpus().seats().values()) {
            gpu.kind()
                    .filter(any -> gpu.isWhole())
                    .ifPresent(kind ->
                            nodes.computeIfAbsent(kind, any -> new HashMap<>()).merge(gpu.nodeId(), 1, Integer::sum));
        }
        return nodes;
    }

    /** A job as a policy sees it on a kind: with its GPUs of this kind. */
    private JobView seen(JobView job, KindId kind, int gpusPerNode) {
        JobState state = builder.jobs().require(job.job());
        JobView whole = training.seen(state, gpusPerNode);
        List<GpuId> held = whole.gpus();
        List<GpuId> here = held.stream()
                .filter(gpu -> builder.gpus()
                        .get(gpu)
                        .flatMap(GpuState::kind)
                        .filter(kind::equals)
                        .isPresent())
                .toList();
        return here.size() == held.size() ? whole : new JobInPool(whole, here);
    }

    /** All plans as one. It holds no longer than others: as GPUs become free, a waiting job may go to another kind. */
    private static Plan merged(List<Plan> plans) {
        Map<JobId, List<GpuId>> targets = new TreeMap<>();
        Map<JobId, PlanReason> reasons = new TreeMap<>();
        Map<JobId, QueuePosition> standings = new TreeMap<>();
        List<GpuId> left = new ArrayList<>();
        for (Plan plan : plans) {
            targets.putAll(plan.targets());
            reasons.putAll(plan.reasons());
            standings.putAll(plan.standings());
            left.addAll(plan.left());
        }
        return new Plan(targets, reasons, standings, left, Optional.empty());
    }
}

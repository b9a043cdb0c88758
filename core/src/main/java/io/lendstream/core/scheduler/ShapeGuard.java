package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.policy.ClusterLayout;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobSite;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.ScheduledJob;
import io.lendstream.core.state.GangGain;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Keeps jobs in their shapes: no decision gives a job a number of GPUs, a part of a node or several topology domains
 * that its shape forbids. What a policy proposes, and what a job keeps after a loss or a reclaim, is cut to the largest
 * part that the shape allows.
 */
record ShapeGuard(StepBuilder builder, TopologyLabels labels) {
    /** Whether a job may have exactly these GPUs. */
    boolean allows(JobState job, List<GpuId> gpus) {
        return part(job, gpus).size() == gpus.size();
    }

    /** The largest part of some GPUs that the shape of a job allows; all of them if it has none. */
    List<GpuId> part(JobState job, List<GpuId> gpus) {
        return job.spec().shape().gang() ? ofGang(job, gpus) : inShape(job, gpus);
    }

    /** The same of a gang, which has all GPUs of a decision that is being carried out, or none of them. */
    private List<GpuId> ofGang(JobState job, List<GpuId> gpus) {
        List<GpuId> part = inShape(job, GangGain.whole(builder.gpus(), job, gpus));
        if (part.size() == gpus.size()) {
            return part;
        }
        return part.size() < job.spec().scaling().least() ? List.of() : ofGang(job, part);
    }

    private List<GpuId> inShape(JobState job, List<GpuId> gpus) {
        JobShape shape = job.spec().shape();
        if (shape.isAny() || gpus.isEmpty()) {
            return gpus;
        }
        Optional<GpuState> first = builder.gpus().get(gpus.get(0));
        JobSite site = JobSite.of(
                shape,
                new ClusterLayout(
                        builder.clusterIndex().gpus().seats(), builder.nodes(), labels, first.flatMap(GpuState::kind)));
        SortedMap<String, Map<NodeId, List<GpuState>>> domains = new TreeMap<>();
        for (GpuId id : gpus) {
            builder.gpus()
                    .get(id)
                    .ifPresent(gpu -> domains.computeIfAbsent(
                                    site.needsDomain() ? site.domain(gpu.nodeId()) : "", any -> new HashMap<>())
                            .computeIfAbsent(gpu.nodeId(), any -> new ArrayList<>())
                            .add(gpu));
        }
        List<GpuId> best = List.of();
        for (Map<NodeId, List<GpuState>> nodes : domains.values()) {
            List<GpuId> part = part(job, site, nodes);
            best = part.size() > best.size() ? part : best;
        }
        return best.size() == gpus.size() ? gpus : best;
    }

    /** The largest allowed part of GPUs in one domain: training's own before lent ones, then few nodes. */
    private static List<GpuId> part(JobState job, JobSite site, Map<NodeId, List<GpuState>> nodes) {
        List<List<GpuState>> order = nodes.entrySet().stream()
                .filter(node -> !site.wholeNodes()
                        || node.getValue().size() == site.layout().gpusOf(node.getKey()))
                .sorted(Comparator.<Map.Entry<NodeId, List<GpuState>>>comparingInt(
                                node -> node.getValue().get(0).pool() == Pool.TRAINING ? 0 : 1)
                        .thenComparingInt(node -> -node.getValue().size())
                        .thenComparing(Map.Entry::getKey))
                .map(Map.Entry::getValue)
                .toList();
        List<GpuId> all = new ArrayList<>();
        int best = 0;
        for (List<GpuState> node : order) {
            node.forEach(gpu -> all.add(gpu.gpuId()));
            best = site.wholeNodes() && isSize(job, all.size()) ? all.size() : best;
        }
        return List.copyOf(all.subList(0, site.wholeNodes() ? best : size(job, all.size())));
    }

    /** The largest number of at most so many GPUs that a job runs on. */
    private static int size(JobState job, int most) {
        boolean elastic = job.spec().scaling().elastic();
        int asked = job.spec().scaling().least();
        int size = elastic || most < asked ? job.spec().shape().atMost(most) : asked;
        return isSize(job, size) ? size : 0;
    }

    private static boolean isSize(JobState job, int gpus) {
        int least = job.spec().scaling().least();
        boolean inRange = job.spec().scaling().elastic() ? gpus >= least : gpus == least;
        return inRange && job.spec().shape().allows(gpus);
    }

    /** The plan cut to the shapes of jobs. Jobs that it leaves as they are give up what their shape forbids. */
    Plan within(Plan plan, TrainingView training, ClusterView view) {
        if (builder.clusterIndex().jobs().shaped().isEmpty()) {
            return plan;
        }
        SizeCheck fit = new SizeCheck(this, training, view);
        Map<JobId, List<GpuId>> targets = new TreeMap<>(plan.targets());
        Map<JobId, PlanReason> reasons = new TreeMap<>(plan.reasons());
        boolean cuts = false;
        for (JobState job : builder.clusterIndex().jobs().shaped().values()) {
            if (view.fixed().contains(job.spec().job())) {
                continue;
            }
            List<GpuId> planned =
                    targets.getOrDefault(job.spec().job(), job.allocation().gpus());
            List<GpuId> allowed = part(job, planned);
            if (planned.isEmpty()) {
                explain(job, fit, reasons);
            } else if (allowed.size() < planned.size()) {
                cuts = true;
                targets.put(job.spec().job(), allowed);
                cut(job, planned.size(), allowed.size(), reasons);
            }
        }
        return new Plan(targets, reasons, plan.standings(), plan.left(), cuts ? Optional.empty() : plan.holdsUntil());
    }

    /** Gives the reason for a job that gets nothing, if no number of GPUs fits it. */
    private void explain(JobState job, SizeCheck fit, Map<JobId, PlanReason> reasons) {
        if (job.gpus() == 0 && builder.listener() == StepListener.NONE) {
            return;
        }
        JobId name = job.spec().job();
        fit.unfit(job).ifPresent(why -> {
            builder.listener().vetoed(name, why);
            reasons.put(name, new PlanReason("%s waits: %s".formatted(name, why), Map.of()));
        });
    }

    /** Gives the reason for a job that gets a part of its GPUs of the plan. */
    private void cut(JobState job, int planned, int allowed, Map<JobId, PlanReason> reasons) {
        JobId name = job.spec().job();
        Optional<PlanReason> why = Optional.ofNullable(reasons.get(name));
        reasons.put(name, PlanReason.later(() -> cut(job, planned, allowed, why)));
        builder.listener()
                .vetoed(
                        name,
                        "the plan gives it %s, of which its shape (%s) allows %d"
                                .formatted(
                                        Reason.counted(planned, "GPU"),
                                        job.spec().shape().inWords(),
                                        allowed));
    }

    /** The reason for a job that gets a part of its GPUs of the plan, or keeps a part of those that it has. */
    private static PlanReason cut(JobState job, int planned, int allowed, Optional<PlanReason> why) {
        Map<String, Double> numbers = new TreeMap<>(why.map(PlanReason::numbers).orElse(Map.of()));
        numbers.put("gpusInPlan", (double) planned);
        String does = allowed == 0 && job.gpus() == 0
                ? "waits"
                : Wording.resized(job.gpus(), allowed, job.usage().largestRun() > 0);
        return new PlanReason(
                "%s %s: its shape (%s) allows %d of %s%s"
                        .formatted(
                                job.spec().job(),
                                does,
                                job.spec().shape().inWords(),
                                allowed,
                                Reason.counted(planned, "GPU"),
                                why.map(text -> "; without its shape: " + text.text())
                                        .orElse("")),
                numbers);
    }

    /** Finds the jobs that no number of GPUs fits. */
    private static final class SizeCheck {
        private final TrainingView training;
        private final int gpusPerNode;
        private final List<ShapeView> kinds = new ArrayList<>();

        SizeCheck(ShapeGuard guard, TrainingView training, ClusterView view) {
            this.training = training;
            this.gpusPerNode = training.largest();
            PersistentMap<KindId, Integer> known =
                    guard.builder.clusterIndex().trainingCapacity().kinds();
            if (known.size() < 2) {
                kinds.add(new ShapeView(guard.builder, guard.labels, view::gpus, known.firstKey()));
                return;
            }
            for (Map.Entry<KindId, Integer> kind : known) {
                Optional<KindId> name = Optional.of(kind.getKey());
                kinds.add(new ShapeView(
                        guard.builder,
                        guard.labels,
                        () -> view.gpus().stream()
                                .filter(gpu -> gpu.kind().equals(name))
                                .toList(),
                        name));
            }
        }

        /** Why no number of GPUs fits a job; empty if one does. */
        Optional<String> unfit(JobState job) {
            JobView seen = training.seen(job, gpusPerNode, ScheduledJob.Kinds.ALIKE);
            int most = 0;
            for (ShapeView kind : kinds) {
                if (kind.shaped(job, seen).hasSize()) {
                    return Optional.empty();
                }
                most = Math.max(most, kind.most(job));
            }
            return Optional.of(
                    "no number of GPUs fits it: its shape is %s, it needs %s or more, and the nodes that training may use give it %d at most"
                            .formatted(
                                    job.spec().shape().inWords(),
                                    Reason.counted(job.spec().scaling().least(), "GPU"),
                                    most));
        }
    }
}

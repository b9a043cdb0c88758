package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobInPool;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.ScheduledJob;
import io.lendstream.core.policy.UsableGpus;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiPredicate;

/** A view of a domain for each kind of GPU: the GPUs of the kind, and jobs with their GPUs of it. */
final class KindViews {
    private final StepBuilder builder;
    private final TrainingView training;
    private final ClusterView whole;
    private final boolean chosen;
    /** The jobs in the order in which it is their turn. */
    private final List<JobView> all = new ArrayList<>();
    /** The nodes with whole GPUs of each kind. */
    private final Map<KindId, NodesOfKind> nodes = new HashMap<>();

    private final SortedMap<KindId, Integer> counts = new TreeMap<>();
    private final Map<JobId, Map<KindId, List<GpuId>>> held = new HashMap<>();

    /** Counts the whole GPUs of a kind, node by node. */
    private static final class NodesOfKind {
        private int nodes;
        private int gpus;
        /** The most GPUs of a node. */
        private int largest = 1;

        private Optional<NodeId> last = Optional.empty();
        private int onLast;

        void add(NodeId node) {
            if (last.filter(node::equals).isEmpty()) {
                last = Optional.of(node);
                onLast = 0;
                nodes++;
            }
            onLast++;
            gpus++;
            largest = Math.max(largest, onLast);
        }
    }

    /** @param chosen whether the policy chooses the kinds of jobs */
    KindViews(StepBuilder builder, TrainingView training, ClusterView whole, boolean chosen) {
        this.builder = builder;
        this.training = training;
        this.whole = whole;
        this.chosen = chosen;
        whole.queue().forEach(all::add);
        for (GpuState gpu : builder.clusterIndex().gpus().seats().values()) {
            if (gpu.kind().isPresent() && gpu.isWhole() && !gpu.owner().isForeign()) {
                nodes.computeIfAbsent(gpu.kind().get(), any -> new NodesOfKind())
                        .add(gpu.nodeId());
            }
        }
        nodes.forEach((kind, theirs) -> counts.put(kind, theirs.gpus));
    }

    /**
     * The views in the order of kinds.
     *
     * @param kinds the kind of each job
     * @param isIn whether a job is in the view of a kind
     */
    SortedMap<KindId, ClusterView> of(Map<JobId, KindId> kinds, BiPredicate<JobId, KindId> isIn) {
        Map<KindId, List<GpuState>> gpus = new HashMap<>();
        for (GpuState gpu : whole.gpus()) {
            if (gpu.kind().isPresent() && isOf(gpu.kind().get(), gpu, kinds)) {
                gpus.computeIfAbsent(gpu.kind().get(), any -> new ArrayList<>()).add(gpu);
            }
        }
        // A job whose GPUs cannot be used now is planned too: its policy may suspend it.
        kinds.values().forEach(kind -> gpus.computeIfAbsent(kind, any -> new ArrayList<>()));
        SortedMap<KindId, ClusterView> views = new TreeMap<>();
        gpus.forEach((kind, theirs) -> views.put(kind, view(kind, theirs, isIn)));
        return views;
    }

    private ClusterView view(KindId kind, List<GpuState> gpus, BiPredicate<JobId, KindId> isIn) {
        NodesOfKind there = nodes.getOrDefault(kind, new NodesOfKind());
        int largest = there.largest;
        ShapeView shapes =
                new ShapeView(builder, training.settings().model().topology(), () -> gpus, Optional.of(kind));
        List<JobView> jobs = new ArrayList<>();
        Map<JobId, JobView> here = new HashMap<>();
        for (JobView job : all) {
            if (isIn.test(job.job(), kind)) {
                JobView seen = seen(job, kind, largest, shapes);
                jobs.add(seen);
                here.put(job.job(), seen);
            }
        }
        List<JobView> holding = new ArrayList<>();
        for (JobView job : whole.holding()) {
            JobView seen = here.get(job.job());
            if (seen != null) {
                holding.add(seen);
            } else if (isIn.test(job.job(), kind)) {
                holding.add(seen(job, kind, largest, shapes));
            }
        }
        Set<JobId> fixed = new HashSet<>(whole.fixed());
        fixed.removeIf(job -> !isIn.test(job, kind));
        ClusterView.Queue queue = new ClusterView.Queue(jobs, jobs.size(), holding);
        return ClusterView.of(whole.now(), queue, UsableGpus.of(gpus), fixed, there.nodes, largest);
    }

    /**
     * Whether no job of another kind holds a GPU. A job may hold two kinds from before an upgrade. The GPUs of a job
     * for which a policy chose another kind are there for others.
     */
    private boolean isOf(KindId kind, GpuState gpu, Map<JobId, KindId> kinds) {
        Optional<JobId> job = gpu.owner().holdingJob();
        if (job.isEmpty() || (chosen && !whole.fixed().contains(job.get()))) {
            return true;
        }
        KindId other = kinds.get(job.get());
        return other == null || other.equals(kind);
    }

    /** A job as a policy sees it on a kind: with its GPUs of this kind. */
    private JobView seen(JobView job, KindId kind, int gpusPerNode, ShapeView shapes) {
        JobState state = builder.jobs().require(job.job());
        ScheduledJob.Kinds on = new ScheduledJob.Kinds(Optional.of(kind), chosen ? counts : Map.of());
        JobView all = shapes.of(state, training.seen(state, gpusPerNode, on));
        List<GpuId> held = all.gpus();
        if (held.isEmpty()) {
            return all;
        }
        Map<KindId, List<GpuId>> ofJob = held(all);
        List<GpuId> here = ofJob.getOrDefault(kind, List.of());
        return here.size() == held.size() ? all : new JobInPool(all, here);
    }

    /** The GPUs of a job by kind, which are looked up once for all kinds. */
    private Map<KindId, List<GpuId>> held(JobView job) {
        return held.computeIfAbsent(job.job(), any -> {
            Map<KindId, List<GpuId>> byKind = new HashMap<>(2);
            for (GpuId gpu : job.gpus()) {
                Optional<GpuState> unit = builder.gpus().get(gpu);
                if (unit.isPresent() && unit.get().kind().isPresent()) {
                    byKind.computeIfAbsent(unit.get().kind().get(), kind -> new ArrayList<>())
                            .add(gpu);
                }
            }
            byKind.replaceAll((kind, gpus) -> List.copyOf(gpus));
            return byKind;
        });
    }
}

package io.lendstream.core.scheduler;

import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.ScheduledJob;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Chooses a kind of GPU for each job, for policies that do not know kinds. A job with GPUs stays on their kind. A
 * waiting job gets the kind with the most free GPUs for each GPU that the jobs waiting for it ask for, in the order of
 * submission. Kinds on which the queue of a job has no quota left come last.
 */
final class KindChoice {
    private final StepBuilder builder;
    private final QueueKinds quotas;
    private final TrainingView training;
    private final ClusterView view;
    private final int gpusPerNode;
    private final Map<KindId, ShapeView> shapes = new HashMap<>();
    private final SortedMap<KindId, Room> rooms = new TreeMap<>();
    private final Map<JobId, KindId> kinds = new HashMap<>();

    /** The GPUs of a kind, and the jobs that use it. */
    private static final class Room {
        private int gpus;
        private int free;
        /** GPUs that its running jobs ask for. */
        private long used;
        /** GPUs that the jobs waiting for it ask for. */
        private long awaited;

        /** Whether a job could start without waiting for others. */
        boolean fits(int least) {
            return least <= free;
        }

        double freePerAwaited(int asked) {
            return (double) free / (awaited + asked);
        }

        double gpusPerAsked(int asked) {
            return (double) gpus / (used + awaited + asked);
        }
    }

    private KindChoice(StepBuilder builder, TrainingView training, ClusterView view) {
        this.builder = builder;
        this.quotas = new QueueKinds(builder);
        this.training = training;
        this.view = view;
        this.gpusPerNode = training.largest();
    }

    /** The kind of each job; jobs that no kind has the memory for have none. */
    static Map<JobId, KindId> of(StepBuilder builder, TrainingView training, ClusterView view) {
        KindChoice choice = new KindChoice(builder, training, view);
        for (Map.Entry<KindId, Integer> kind :
                builder.clusterIndex().trainingCapacity().kinds()) {
            choice.rooms.put(kind.getKey(), new Room());
        }
        choice.count(view.gpus());
        List<JobView> waiting = new ArrayList<>();
        for (JobView job : view.queue()) {
            if (!choice.stays(job)) {
                waiting.add(job);
            }
        }
        waiting.sort(ClusterView.BY_SUBMISSION);
        waiting.forEach(choice::choose);
        return choice.kinds;
    }

    private void count(List<GpuState> gpus) {
        Map<KindId, Room> known = new HashMap<>(rooms);
        for (GpuState gpu : gpus) {
            if (gpu.kind().isPresent()) {
                Room room = known.computeIfAbsent(gpu.kind().get(), this::room);
                room.gpus++;
                room.free += gpu.isTraining() ? 0 : 1;
            }
        }
    }

    private Room room(KindId kind) {
        return rooms.computeIfAbsent(kind, any -> new Room());
    }

    /** Whether a job keeps its kind: that of most of its GPUs, or of those that it waits for. */
    private boolean stays(JobView job) {
        JobState state = builder.jobs().require(job.job());
        Optional<KindId> kind =
                state.isOnSlice() ? Optional.empty() : most(state.allocation().gpus());
        Optional<KindId> kept =
                kind.or(() -> most(state.target())).filter(own -> !state.spec().excludes(own));
        kept.ifPresent(own -> {
            kinds.put(job.job(), own);
            room(own).used += state.spec().scaling().requestedGpus();
        });
        return kept.isPresent();
    }

    private Optional<KindId> most(Collection<GpuId> gpus) {
        Optional<KindId> first = Optional.empty();
        boolean areAlike = true;
        for (GpuId gpu : gpus) {
            Optional<KindId> kind = kind(gpu);
            first = first.or(() -> kind);
            areAlike &= kind.isEmpty() || kind.equals(first);
        }
        if (areAlike) {
            return first;
        }
        SortedMap<KindId, Integer> counts = new TreeMap<>();
        gpus.forEach(gpu -> kind(gpu).ifPresent(kind -> counts.merge(kind, 1, Integer::sum)));
        return counts.entrySet().stream()
                .max(Map.Entry.<KindId, Integer>comparingByValue()
                        .thenComparing(Map.Entry.comparingByKey(Comparator.reverseOrder())))
                .map(Map.Entry::getKey);
    }

    private Optional<KindId> kind(GpuId gpu) {
        Optional<GpuState> unit = builder.gpus().get(gpu);
        return unit.isPresent() && unit.get().isWhole() ? unit.get().kind() : Optional.empty();
    }

    /** Whether a job may use a kind of several. */
    static boolean mayUse(TrainingJob spec, KindId kind) {
        return !spec.excludes(kind)
                && spec.sliceMemoryBytes()
                        .filter(bytes -> !kind.hasMemory(bytes))
                        .isEmpty();
    }

    private void choose(JobView job) {
        JobState state = builder.jobs().require(job.job());
        int asked = Math.max(1, job.requestedGpus());
        rooms.entrySet().stream()
                .filter(room -> mayUse(state.spec(), room.getKey()) && quotas.isBest(state, room.getKey()))
                .max(Comparator.comparing((Map.Entry<KindId, Room> room) -> hasSize(state, room.getKey()))
                        .thenComparing(room -> room.getValue().gpus >= job.least())
                        .thenComparing(room -> room.getValue().fits(job.least()))
                        .thenComparingDouble(room -> room.getValue().freePerAwaited(asked))
                        .thenComparingDouble(room -> room.getValue().gpusPerAsked(asked))
                        .thenComparing(Map.Entry.comparingByKey(Comparator.reverseOrder())))
                .ifPresent(room -> {
                    kinds.put(job.job(), room.getKey());
                    // A job that no number of GPUs fits takes none, so that others still find them free.
                    room.getValue().awaited += hasSize(state, room.getKey()) ? asked : 0;
                });
    }

    /** Whether the nodes of a kind can give a job a number of GPUs that its shape allows. */
    private boolean hasSize(JobState job, KindId kind) {
        if (job.spec().shape().isAny()) {
            return true;
        }
        ShapeView there = shapes.computeIfAbsent(
                kind,
                any -> new ShapeView(
                        builder,
                        training.settings().model().topology(),
                        () -> view.gpus().stream()
                                .filter(gpu -> gpu.kind().filter(kind::equals).isPresent())
                                .toList(),
                        Optional.of(kind)));
        return there.shaped(job, training.seen(job, gpusPerNode, ScheduledJob.Kinds.ALIKE))
                .hasSize();
    }
}

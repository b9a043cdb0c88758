package io.lendstream.core.scheduler;

import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.state.Admission;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QuotaUse;
import io.lendstream.core.state.TrainingCapacity;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The whole GPUs of one kind that jobs may get, for answers to jobs; of all GPUs if kinds are not told apart. */
final class KindRoom {
    private final Optional<KindId> kind;
    private final Map<NodeId, Integer> nodes = new HashMap<>();
    private final Map<QueueId, Integer> limits = new HashMap<>();
    private int most;
    private int own;
    private int promised;
    private boolean onlyKind;

    private KindRoom(Optional<KindId> kind) {
        this.kind = kind;
    }

    /**
     * The rooms of a domain, by kind; without those whose GPUs training may never use.
     *
     * @param lending whether jobs may be lent GPUs of inference
     */
    static List<KindRoom> of(StepBuilder builder, boolean lending) {
        PersistentMap<NodeId, NodeId> away =
                builder.clusterIndex().trainingCapacity().away();
        SortedMap<String, KindRoom> rooms = new TreeMap<>();
        for (GpuState gpu : builder.clusterIndex().gpus().seats().values()) {
            if (gpu.isWhole() && (lending || gpu.pool() == Pool.TRAINING)) {
                rooms.computeIfAbsent(key(gpu.kind()), any -> new KindRoom(gpu.kind()))
                        .count(gpu, away.contains(gpu.nodeId()));
            }
        }
        for (JobState job : builder.clusterIndex().jobs().open().values()) {
            if (job.admission().isPresent()) {
                Admission answer = job.admission().get();
                KindRoom room = rooms.get(key(answer.kind()));
                if (room != null) {
                    room.promise(answer.share());
                }
            }
        }
        rooms.values().forEach(room -> room.onlyKind = rooms.size() == 1);
        return List.copyOf(rooms.values());
    }

    private static String key(Optional<KindId> kind) {
        return kind.map(KindId::value).orElse("");
    }

    private void count(GpuState gpu, boolean isAway) {
        most++;
        nodes.merge(gpu.nodeId(), 1, Integer::sum);
        own += gpu.pool() == Pool.TRAINING && !isAway && TrainingCapacity.has(gpu) ? 1 : 0;
    }

    Optional<KindId> kind() {
        return kind;
    }

    /** GPUs that jobs could get if no other job and no service used any. */
    int most() {
        return most;
    }

    /** GPUs that training can count on: those of its own pool, on reachable nodes and not out of service. */
    int own() {
        return own;
    }

    /** Those of them that are the shares of admitted jobs. */
    int promised() {
        return promised;
    }

    /** Those of them that are left for another job. */
    int free() {
        return Math.max(0, own - promised);
    }

    /** Counts the share of a job that is admitted. */
    void promise(int share) {
        promised += share;
    }

    /** The GPUs of its largest node. */
    int gpusPerNode() {
        return nodes.values().stream().mapToInt(count -> count).max().orElse(1);
    }

    boolean isFor(TrainingJob job) {
        return kind.filter(of -> onlyKind ? job.excludes(of) : !KindChoice.mayUse(job, of))
                .isEmpty();
    }

    /**
     * Whole GPUs that a queue may use of this kind.
     *
     * @param unused a ledger without units, in which a queue may borrow all that its cohort lends
     */
    int limit(QueueId queue, QueueLedger unused) {
        return limits.computeIfAbsent(
                queue, name -> unused.use(name, kind).map(QuotaUse::room).orElse(0));
    }

    /** The kind as the end of a number of GPUs. */
    String ofKind() {
        return kind.map(of -> " of kind " + of).orElse("");
    }
}

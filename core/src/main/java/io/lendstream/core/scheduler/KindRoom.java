package io.lendstream.core.scheduler;

import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.state.Admission;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QuotaUse;
import io.lendstream.core.state.TrainingCapacity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The whole GPUs of one kind that jobs may get, for answers to jobs; of all GPUs if kinds are not told apart. */
final class KindRoom {
    private final Optional<KindId> kind;
    private final boolean isOnlyKind;
    private final ShapeView inAll;
    private final ShapeView inOwn;
    private final List<GpuState> all = new ArrayList<>();
    private final List<GpuState> own = new ArrayList<>();
    private final Map<NodeId, Integer> nodes = new HashMap<>();
    private final Map<NodeId, Integer> ownNodes = new HashMap<>();
    private final Map<QueueId, Integer> limits = new HashMap<>();
    private final Map<JobId, Integer> shares = new HashMap<>();
    /** GPUs of the training pool that are in service, be their nodes reachable or not. */
    private int inService;

    private int promised;

    private KindRoom(StepBuilder builder, TopologyLabels labels, Optional<KindId> kind, boolean isOnlyKind) {
        this.kind = kind;
        this.isOnlyKind = isOnlyKind;
        Optional<KindId> apart = isOnlyKind ? Optional.empty() : kind;
        this.inAll = new ShapeView(builder, labels, () -> all, apart);
        this.inOwn = new ShapeView(builder, labels, () -> own, apart);
    }

    /**
     * The rooms of a domain, by kind; without those whose GPUs training may never use. As in plans, GPUs of an unknown
     * kind are used with those of the only known kind, and not at all if there are several. A share is promised until
     * its job ends or the deadline passes.
     */
    static List<KindRoom> of(StepBuilder builder, SchedulerSettings settings) {
        TrainingCapacity capacity = builder.clusterIndex().trainingCapacity();
        boolean isOneKind = capacity.kinds().size() < 2;
        TopologyLabels labels = settings.model().topology();
        AbilityGuard abilities = new AbilityGuard(builder);
        SortedMap<String, KindRoom> rooms = new TreeMap<>();
        for (GpuState gpu : builder.clusterIndex().gpus().seats().values()) {
            Optional<KindId> kind = isOneKind ? capacity.kinds().firstKey() : gpu.kind();
            boolean isUsed = isOneKind || kind.isPresent();
            if (isUsed
                    && gpu.isWhole()
                    && !gpu.owner().isForeign()
                    && (settings.lending() || gpu.pool() == Pool.TRAINING)) {
                rooms.computeIfAbsent(key(kind), any -> new KindRoom(builder, labels, kind, isOneKind))
                        .count(gpu, !capacity.away().contains(gpu.nodeId()) && abilities.isUsable(gpu));
            }
        }
        for (JobState job : builder.entities().openJobs()) {
            int share = job.admission().map(Admission::share).orElse(0);
            if (share > 0
                    && job.spec().hardDeadline().filter(builder.now()::isBefore).isPresent()) {
                roomOf(job, rooms).ifPresent(room -> room.promise(job, share));
            }
        }
        return List.copyOf(rooms.values());
    }

    /**
     * Where the share of an admitted job is. If the job was answered before the domain had kinds, it is with the most
     * GPUs that are left and that the job may use.
     */
    private static Optional<KindRoom> roomOf(JobState job, SortedMap<String, KindRoom> rooms) {
        Optional<KindId> answered = job.admission().flatMap(Admission::kind);
        KindRoom named = rooms.get(key(answered));
        if (named != null) {
            return Optional.of(named);
        }
        return rooms.values().stream()
                .filter(room -> room.isOnlyKind || answered.isEmpty())
                .filter(room -> room.isFor(job.spec()))
                .max(Comparator.comparingInt(KindRoom::free));
    }

    private static String key(Optional<KindId> kind) {
        return kind.map(KindId::value).orElse("");
    }

    private void count(GpuState gpu, boolean isUsable) {
        all.add(gpu);
        nodes.merge(gpu.nodeId(), 1, Integer::sum);
        inService += gpu.pool() == Pool.TRAINING && !gpu.owner().isQuarantined() ? 1 : 0;
        if (gpu.pool() == Pool.TRAINING && isUsable && TrainingCapacity.has(gpu)) {
            own.add(gpu);
            ownNodes.merge(gpu.nodeId(), 1, Integer::sum);
        }
    }

    Optional<KindId> kind() {
        return kind;
    }

    /** GPUs that jobs could get if no other job and no service used any. */
    int most() {
        return all.size();
    }

    /**
     * GPUs that training can count on: those of its own pool that are not out of service, on reachable nodes with one
     * actuator.
     */
    int own() {
        return own.size();
    }

    /** Those of them that are the shares of admitted jobs. */
    int promised() {
        return promised;
    }

    /** Those of them that are left for another job. */
    int free() {
        return Math.max(0, own() - promised);
    }

    /** Counts the share of a job that is admitted. */
    void promise(JobState job, int share) {
        promised += share;
        shares.merge(job.spec().job(), share, Integer::sum);
    }

    /** Counts the share of a job not any more, until it is answered again. */
    void takeBack(JobState job) {
        promised -= Optional.ofNullable(shares.remove(job.spec().job())).orElse(0);
    }

    boolean hasShare(JobState job) {
        return shares.containsKey(job.spec().job());
    }

    /** Whether GPUs have left that are shares of admitted jobs. One that only cannot be reached may come back. */
    boolean isShort() {
        return promised > inService;
    }

    /** GPUs that training can count on, of the node that has the most of them. */
    int ownOnOneNode() {
        return largest(ownNodes, 0);
    }

    /** A job in its shape, with all GPUs. */
    JobView inAll(JobState job, JobView seen) {
        return inAll.of(job, seen);
    }

    /** A job in its shape, with the GPUs that training can count on. */
    JobView inOwn(JobState job, JobView seen) {
        return inOwn.of(job, seen);
    }

    /** The most GPUs that one domain of a job's required topology has for it, if no other job used any. */
    int mostOfDomain(JobState job) {
        return inAll.most(job);
    }

    /** The GPUs of its largest node. */
    int gpusPerNode() {
        return largest(nodes, 1);
    }

    private static int largest(Map<NodeId, Integer> counts, int least) {
        int largest = least;
        for (int count : counts.values()) {
            largest = Math.max(largest, count);
        }
        return largest;
    }

    boolean isFor(TrainingJob job) {
        return kind.filter(of -> isOnlyKind ? job.excludes(of) : !KindChoice.mayUse(job, of))
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

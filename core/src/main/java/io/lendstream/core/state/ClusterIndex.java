package io.lendstream.core.state;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.persistent.PersistentMap;
import java.time.Instant;
import java.util.Optional;

/**
 * The GPUs, jobs and nodes of a state in the orders in which a step looks for them, so that no step looks at all of them. It
 * says nothing that the state does not say otherwise, and is kept along with it in O(log n) a change.
 *
 * @param seats all GPUs, by node
 * @param free whole GPUs that nobody has, by node
 * @param lendable what training has or may be given
 * @param owed GPUs that change by themselves unless something happens: protected, releasing, binding and recut ones, by when
 * @param loans lent GPUs, by the end of their lease
 * @param replicas GPUs with a replica on them or coming up, by service
 * @param sleeping those of them whose replica sleeps
 * @param open jobs that are not over, in the order in which it is their turn
 * @param holding jobs that are not over and hold GPUs, or are about to
 * @param changing jobs that are being changed, by when the change has to be in force
 * @param unsettled jobs that hold other GPUs than they should and are not being changed
 * @param past jobs that are over and hold nothing, by when they last spoke
 * @param heard nodes, by when they were last sampled
 * @param silent services, by when their demand will be unknown unless something is heard of them
 */
public record ClusterIndex(
        PersistentMap<NodeGpuKey, GpuState> seats,
        PersistentMap<NodeGpuKey, GpuState> free,
        TrainingCapacity lendable,
        PersistentMap<DueKey<GpuId>, GpuId> owed,
        PersistentMap<DueKey<GpuId>, GpuId> loans,
        PersistentMap<Replica, GpuState> replicas,
        PersistentMap<Replica, GpuState> sleeping,
        PersistentMap<QueueKey, JobState> open,
        PersistentMap<JobId, JobState> holding,
        PersistentMap<DueKey<JobId>, JobId> changing,
        PersistentMap<JobId, JobState> unsettled,
        PersistentMap<DueKey<JobId>, JobId> past,
        PersistentMap<DueKey<NodeId>, NodeState> heard,
        PersistentMap<DueKey<ServiceId>, ServiceId> silent) {
    private static final ClusterIndex EMPTY = new ClusterIndex(
            PersistentMap.empty(),
            PersistentMap.empty(),
            TrainingCapacity.EMPTY,
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty());

    /** The index of a state. */
    static ClusterIndex of(
            Iterable<NodeState> nodes,
            Iterable<GpuState> gpus,
            Iterable<ServiceState> services,
            Iterable<JobState> jobs) {
        ClusterIndex clusterIndex = EMPTY;
        for (NodeState node : nodes) {
            clusterIndex = clusterIndex.withNode(Optional.empty(), Optional.of(node));
        }
        for (GpuState gpu : gpus) {
            clusterIndex = clusterIndex.withGpu(Optional.empty(), Optional.of(gpu));
        }
        for (ServiceState service : services) {
            clusterIndex = clusterIndex.withService(Optional.empty(), service);
        }
        for (JobState job : jobs) {
            clusterIndex = clusterIndex.withJob(Optional.empty(), Optional.of(job));
        }
        return clusterIndex;
    }

    /** With a GPU as it is now in place of what it was; none before it came or after it went. */
    public ClusterIndex withGpu(Optional<GpuState> before, Optional<GpuState> after) {
        return new ClusterIndex(
                moved(seats, before.map(ClusterIndex::seat), after.map(ClusterIndex::seat), after),
                moved(free, before.flatMap(ClusterIndex::freeSeat), after.flatMap(ClusterIndex::freeSeat), after),
                lendable.withGpu(before, after),
                moved(owed, before.flatMap(ClusterIndex::owedBy), after.flatMap(ClusterIndex::owedBy)),
                moved(loans, before.flatMap(ClusterIndex::lentUntil), after.flatMap(ClusterIndex::lentUntil)),
                moved(replicas, before.flatMap(ClusterIndex::replica), after.flatMap(ClusterIndex::replica), after),
                moved(sleeping, before.flatMap(ClusterIndex::sleeper), after.flatMap(ClusterIndex::sleeper), after),
                open,
                holding,
                changing,
                unsettled,
                past,
                heard,
                silent);
    }

    /** With a job as it is now in place of what it was; none before it came or after it went. */
    public ClusterIndex withJob(Optional<JobState> before, Optional<JobState> after) {
        return new ClusterIndex(
                seats,
                free,
                lendable,
                owed,
                loans,
                replicas,
                sleeping,
                moved(open, before.flatMap(ClusterIndex::turn), after.flatMap(ClusterIndex::turn), after),
                moved(holding, before.flatMap(ClusterIndex::isHolding), after.flatMap(ClusterIndex::isHolding), after),
                moved(changing, before.flatMap(ClusterIndex::settledBy), after.flatMap(ClusterIndex::settledBy)),
                moved(
                        unsettled,
                        before.flatMap(ClusterIndex::isUnsettled),
                        after.flatMap(ClusterIndex::isUnsettled),
                        after),
                moved(past, before.flatMap(ClusterIndex::lastWord), after.flatMap(ClusterIndex::lastWord)),
                heard,
                silent);
    }

    /** With a node as it is now in place of what it was; none before it came or after it went. */
    public ClusterIndex withNode(Optional<NodeState> before, Optional<NodeState> after) {
        return new ClusterIndex(
                seats,
                free,
                lendable.withNode(before, after),
                owed,
                loans,
                replicas,
                sleeping,
                open,
                holding,
                changing,
                unsettled,
                past,
                moved(heard, before.flatMap(ClusterIndex::lastSample), after.flatMap(ClusterIndex::lastSample), after),
                silent);
    }

    /** With a service as it is now in place of what it was; none before it came. */
    public ClusterIndex withService(Optional<ServiceState> before, ServiceState after) {
        return new ClusterIndex(
                seats,
                free,
                lendable,
                owed,
                loans,
                replicas,
                sleeping,
                open,
                holding,
                changing,
                unsettled,
                past,
                heard,
                moved(silent, before.map(ClusterIndex::unknown), Optional.of(unknown(after))));
    }

    static <K extends Comparable<? super K>, V> PersistentMap<K, V> moved(
            PersistentMap<K, V> map, Optional<K> before, Optional<K> after, Optional<V> value) {
        PersistentMap<K, V> rest = before.isPresent() && !before.equals(after) ? map.remove(before.get()) : map;
        return after.isPresent() && value.isPresent() ? rest.put(after.get(), value.get()) : rest;
    }

    /** Only the key counts: nothing is to be done where it stays. */
    private static <K extends Comparable<K>> PersistentMap<DueKey<K>, K> moved(
            PersistentMap<DueKey<K>, K> map, Optional<DueKey<K>> before, Optional<DueKey<K>> after) {
        return before.equals(after) ? map : moved(map, before, after, after.map(DueKey::what));
    }

    static NodeGpuKey seat(GpuState gpu) {
        return new NodeGpuKey(gpu.nodeId(), gpu.gpuId());
    }

    private static Optional<NodeGpuKey> freeSeat(GpuState gpu) {
        return gpu.isFree() && gpu.isWhole() ? Optional.of(seat(gpu)) : Optional.empty();
    }

    private static Optional<DueKey<GpuId>> owedBy(GpuState gpu) {
        return gpu.owner().dueAt().map(at -> new DueKey<>(at, gpu.gpuId()));
    }

    private static Optional<DueKey<GpuId>> lentUntil(GpuState gpu) {
        return gpu.owner().asLent().map(lent -> new DueKey<>(lent.until(), gpu.gpuId()));
    }

    private static Optional<Replica> replica(GpuState gpu) {
        return gpu.owner().replicaOf().map(service -> new Replica(service, gpu.gpuId()));
    }

    private static Optional<Replica> sleeper(GpuState gpu) {
        return gpu.owner().isSleeping() ? replica(gpu) : Optional.empty();
    }

    private static Optional<QueueKey> turn(JobState job) {
        return job.isOver() ? Optional.empty() : Optional.of(QueueKey.of(job));
    }

    private static Optional<JobId> isHolding(JobState job) {
        return job.isOver() || job.gpus() == 0
                ? Optional.empty()
                : Optional.of(job.spec().job());
    }

    private static Optional<DueKey<JobId>> settledBy(JobState job) {
        return job.changing().map(decision -> due(job.change().changeDeadline(), job));
    }

    private static Optional<JobId> isUnsettled(JobState job) {
        boolean unsettled = job.isOver()
                ? job.gpus() > 0
                : job.changing().isEmpty()
                        && !job.target().equals(job.allocation().gpus());
        return unsettled ? Optional.of(job.spec().job()) : Optional.empty();
    }

    private static Optional<DueKey<JobId>> lastWord(JobState job) {
        return job.isOver() && job.gpus() == 0 ? job.lastProgressAt().map(at -> due(at, job)) : Optional.empty();
    }

    private static Optional<DueKey<NodeId>> lastSample(NodeState node) {
        return node.lastSampleAt().map(at -> new DueKey<>(at, node.node().nodeId()));
    }

    private static DueKey<ServiceId> unknown(ServiceState service) {
        return new DueKey<>(service.unknownAt(), service.spec().service());
    }

    private static DueKey<JobId> due(Instant at, JobState job) {
        return new DueKey<>(at, job.spec().job());
    }
}

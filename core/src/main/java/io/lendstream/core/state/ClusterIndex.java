package io.lendstream.core.state;

import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.persistent.Cached;
import io.lendstream.core.persistent.PersistentMap;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Indexes of a state, so that a step need not read all GPUs, jobs, nodes and services. They follow from the state, and
 * each change updates them in O(log n).
 *
 * @param trainingCapacity the GPUs that training has or may get
 * @param heard nodes, by when they were last sampled
 * @param silent services, by the time at which their demand becomes unknown without new records
 * @param shaped services that declare shapes
 * @param removed services that are no longer declared and still have units; they are not silent
 * @param faulty services whose program some node could not run, by the end of the first wait
 * @param hosts the facts about nodes whose CPU or host memory is known
 * @param kept the ledger of queues; none after any change, until a step has made it again
 */
public record ClusterIndex(
        GpuIndex gpus,
        JobIndex jobs,
        TrainingCapacity trainingCapacity,
        PersistentMap<DueKey<NodeId>, NodeState> heard,
        PersistentMap<DueKey<ServiceId>, ServiceId> silent,
        PersistentMap<ServiceId, ServiceId> shaped,
        PersistentMap<ServiceId, ServiceId> removed,
        PersistentMap<DueKey<ServiceId>, ServiceId> faulty,
        PersistentMap<NodeId, NodeFacts> hosts,
        Cached kept) {
    private static final ClusterIndex EMPTY = new ClusterIndex(
            GpuIndex.EMPTY,
            JobIndex.EMPTY,
            TrainingCapacity.EMPTY,
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            Cached.NOTHING);

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
            clusterIndex = clusterIndex.withService(Optional.empty(), Optional.of(service));
        }
        for (JobState job : jobs) {
            clusterIndex = clusterIndex.withJob(Optional.empty(), Optional.of(job));
        }
        return clusterIndex;
    }

    /** With the new state of a GPU in place of the old one; empty before it came or after it left. */
    ClusterIndex withGpu(Optional<GpuState> before, Optional<GpuState> after) {
        return new ClusterIndex(
                gpus.with(before, after),
                jobs,
                trainingCapacity.withGpu(before, after),
                heard,
                silent,
                shaped,
                removed,
                faulty,
                hosts,
                Cached.NOTHING);
    }

    /** With the new state of a job in place of the old one; empty before it came or after it left. */
    ClusterIndex withJob(Optional<JobState> before, Optional<JobState> after) {
        return new ClusterIndex(
                gpus,
                jobs.with(before, after),
                trainingCapacity,
                heard,
                silent,
                shaped,
                removed,
                faulty,
                hosts,
                Cached.NOTHING);
    }

    /** With the new state of a node in place of the old one; empty before it came or after it left. */
    ClusterIndex withNode(Optional<NodeState> before, Optional<NodeState> after) {
        return new ClusterIndex(
                gpus,
                jobs,
                trainingCapacity.withNode(before, after),
                moved(heard, before.flatMap(ClusterIndex::lastSample), after.flatMap(ClusterIndex::lastSample), after),
                silent,
                shaped,
                removed,
                faulty,
                hosts(before, after),
                Cached.NOTHING);
    }

    /** With the new state of a service in place of the old one; empty before it came or after it left. */
    ClusterIndex withService(Optional<ServiceState> before, Optional<ServiceState> after) {
        return new ClusterIndex(
                gpus,
                jobs,
                trainingCapacity,
                heard,
                moved(silent, before.flatMap(ClusterIndex::unknown), after.flatMap(ClusterIndex::unknown)),
                with(shaped, before, after, service -> service.spec().hasGroups()),
                with(removed, before, after, service -> service.spec().removed()),
                moved(faulty, before.flatMap(ClusterIndex::waitsUntil), after.flatMap(ClusterIndex::waitsUntil)),
                hosts,
                Cached.NOTHING);
    }

    /** With another ledger. */
    ClusterIndex keeping(Cached next) {
        return new ClusterIndex(gpus, jobs, trainingCapacity, heard, silent, shaped, removed, faulty, hosts, next);
    }

    /** A set of services, of which one has changed. */
    private static PersistentMap<ServiceId, ServiceId> with(
            PersistentMap<ServiceId, ServiceId> set,
            Optional<ServiceState> before,
            Optional<ServiceState> after,
            Predicate<ServiceState> belongs) {
        if (after.isPresent() && belongs.test(after.get())) {
            ServiceId service = after.get().spec().service();
            return set.contains(service) ? set : set.put(service, service);
        }
        return set.isEmpty() || before.isEmpty()
                ? set
                : set.remove(before.get().spec().service());
    }

    /** A sample leaves the inventory of its node as it is. */
    private PersistentMap<NodeId, NodeFacts> hosts(Optional<NodeState> before, Optional<NodeState> after) {
        NodeFacts was = before.isPresent() ? before.get().node().facts() : NodeFacts.NONE;
        NodeFacts is = after.isPresent() ? after.get().node().facts() : NodeFacts.NONE;
        boolean isUnknown = !was.hasHost() && !is.hasHost();
        if (isUnknown || was.equals(is)) {
            return hosts;
        }
        if (after.isPresent() && is.hasHost()) {
            return hosts.put(after.get().node().nodeId(), is);
        }
        return before.isPresent() ? hosts.remove(before.get().node().nodeId()) : hosts;
    }

    static <K extends Comparable<? super K>, V> PersistentMap<K, V> moved(
            PersistentMap<K, V> map, Optional<K> before, Optional<K> after, Optional<V> value) {
        PersistentMap<K, V> rest = before.isPresent() && !before.equals(after) ? map.remove(before.get()) : map;
        return after.isPresent() && value.isPresent() ? rest.put(after.get(), value.get()) : rest;
    }

    /** Only the key counts: nothing changes while it stays. */
    static <K extends Comparable<K>> PersistentMap<DueKey<K>, K> moved(
            PersistentMap<DueKey<K>, K> map, Optional<DueKey<K>> before, Optional<DueKey<K>> after) {
        return before.equals(after) ? map : moved(map, before, after, after.map(DueKey::what));
    }

    private static Optional<DueKey<NodeId>> lastSample(NodeState node) {
        return node.lastSampleAt().map(at -> new DueKey<>(at, node.node().nodeId()));
    }

    private static Optional<DueKey<ServiceId>> waitsUntil(ServiceState service) {
        return service.starts()
                .firstEnd()
                .map(at -> new DueKey<>(at, service.spec().service()));
    }

    private static Optional<DueKey<ServiceId>> unknown(ServiceState service) {
        return service.spec().removed()
                ? Optional.empty()
                : Optional.of(new DueKey<>(service.unknownAt(), service.spec().service()));
    }
}

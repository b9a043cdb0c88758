package io.lendstream.core.state;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.persistent.PersistentMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Indexes of the GPUs of a state.
 *
 * @param seats all GPUs, by node
 * @param free whole GPUs without an owner, by node
 * @param freeSlices MIG instances without an owner, by node
 * @param owed GPUs whose state has a deadline: protected, releasing, binding and recut ones, by deadline
 * @param loans lent GPUs, by the end of their lease
 * @param replicas GPUs with a replica on them or coming up, by service
 * @param sleeping GPUs whose replica sleeps
 * @param groups the same as {@code replicas} of the replicas of several units
 * @param unplaced units whose tenant may have another one and that agents could show, by node
 */
public record GpuIndex(
        PersistentMap<NodeGpuKey, GpuState> seats,
        PersistentMap<NodeGpuKey, GpuState> free,
        PersistentMap<NodeGpuKey, GpuState> freeSlices,
        PersistentMap<DueKey<GpuId>, GpuId> owed,
        PersistentMap<DueKey<GpuId>, GpuId> loans,
        PersistentMap<Replica, GpuState> replicas,
        PersistentMap<Replica, GpuState> sleeping,
        PersistentMap<Replica, GpuState> groups,
        PersistentMap<NodeGpuKey, GpuState> unplaced) {
    static final GpuIndex EMPTY = new GpuIndex(
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty());

    /** With the new state of a GPU in place of the old one; empty before it came or after it left. */
    GpuIndex with(Optional<GpuState> before, Optional<GpuState> after) {
        return new GpuIndex(
                ClusterIndex.moved(seats, before.map(GpuIndex::seat), after.map(GpuIndex::seat), after),
                ClusterIndex.moved(free, before.flatMap(GpuIndex::freeSeat), after.flatMap(GpuIndex::freeSeat), after),
                ClusterIndex.moved(
                        freeSlices, before.flatMap(GpuIndex::freeSlice), after.flatMap(GpuIndex::freeSlice), after),
                ClusterIndex.moved(owed, before.flatMap(GpuIndex::owedBy), after.flatMap(GpuIndex::owedBy)),
                ClusterIndex.moved(loans, before.flatMap(GpuIndex::lentUntil), after.flatMap(GpuIndex::lentUntil)),
                ClusterIndex.moved(
                        replicas, before.flatMap(GpuIndex::replica), after.flatMap(GpuIndex::replica), after),
                ClusterIndex.moved(
                        sleeping, before.flatMap(GpuIndex::sleeper), after.flatMap(GpuIndex::sleeper), after),
                ClusterIndex.moved(groups, before.flatMap(GpuIndex::member), after.flatMap(GpuIndex::member), after),
                placedWith(before, after));
    }

    /** Without slots the map stays empty, and costs no look-up. */
    private PersistentMap<NodeGpuKey, GpuState> placedWith(Optional<GpuState> before, Optional<GpuState> after) {
        boolean isOpen = after.isPresent() && isUnplaced(after.get());
        return isOpen || !unplaced.isEmpty()
                ? ClusterIndex.moved(
                        unplaced,
                        before.filter(GpuIndex::isUnplaced).map(GpuIndex::seat),
                        after.filter(GpuIndex::isUnplaced).map(GpuIndex::seat),
                        after)
                : unplaced;
    }

    private static boolean isUnplaced(GpuState gpu) {
        return gpu.isSlot() && gpu.user().isPresent();
    }

    /** The units with replicas of a service on them or coming up, by name. */
    public List<Map.Entry<Replica, GpuState>> replicasOf(ServiceId service) {
        return of(service, replicas);
    }

    /** The units of its replicas of several units, by name. */
    List<Map.Entry<Replica, GpuState>> groupsOf(ServiceId service) {
        return of(service, groups);
    }

    private static List<Map.Entry<Replica, GpuState>> of(ServiceId service, PersistentMap<Replica, GpuState> all) {
        List<Map.Entry<Replica, GpuState>> mine = new ArrayList<>();
        for (Map.Entry<Replica, GpuState> replica :
                all.from(key -> key.service().compareTo(service) >= 0)) {
            if (!replica.getKey().service().equals(service)) {
                break;
            }
            mine.add(replica);
        }
        return mine;
    }

    static NodeGpuKey seat(GpuState gpu) {
        return new NodeGpuKey(gpu.nodeId(), gpu.gpuId());
    }

    private static Optional<NodeGpuKey> freeSeat(GpuState gpu) {
        return gpu.isFree() && gpu.isWhole() ? Optional.of(seat(gpu)) : Optional.empty();
    }

    private static Optional<NodeGpuKey> freeSlice(GpuState gpu) {
        return gpu.isFree() && !gpu.isWhole() ? Optional.of(seat(gpu)) : Optional.empty();
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

    private static Optional<Replica> member(GpuState gpu) {
        return gpu.part().isPresent() ? replica(gpu) : Optional.empty();
    }

    private static Optional<Replica> sleeper(GpuState gpu) {
        return gpu.owner().isSleeping() ? replica(gpu) : Optional.empty();
    }
}

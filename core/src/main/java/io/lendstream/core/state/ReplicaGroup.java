package io.lendstream.core.state;

import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.ServiceId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A replica of several units, put together from the units that it has now. Units that are leaving do not count.
 *
 * @param part of one of its units
 * @param units by name
 */
public record ReplicaGroup(ServiceId service, GroupPart part, List<GpuState> units) {
    public ReplicaGroup {
        units = List.copyOf(units);
    }

    /** All replicas of several units, by service and name. */
    public static List<ReplicaGroup> all(ClusterIndex index) {
        return index.gpus().groups().isEmpty()
                ? List.of()
                : together(index.gpus().groups());
    }

    /** Those of one service. */
    public static List<ReplicaGroup> of(ClusterIndex index, ServiceId service) {
        return index.gpus().groups().isEmpty()
                ? List.of()
                : together(index.gpus().groupsOf(service));
    }

    /** The replica that a unit is a part of. */
    public static Optional<ReplicaGroup> of(ClusterIndex index, GpuState unit) {
        Optional<ReplicaId> replica = unit.part().map(GroupPart::replica);
        return replica.isEmpty()
                ? Optional.empty()
                : unit.owner()
                        .replicaOf()
                        .flatMap(service -> of(index, service).stream()
                                .filter(group -> group.id().equals(replica.get()))
                                .findFirst());
    }

    private static List<ReplicaGroup> together(Iterable<Map.Entry<Replica, GpuState>> units) {
        Map<ServiceId, Map<ReplicaId, List<GpuState>>> byName = new LinkedHashMap<>();
        for (Map.Entry<Replica, GpuState> unit : units) {
            GpuState state = unit.getValue();
            state.part()
                    .ifPresent(part -> byName.computeIfAbsent(unit.getKey().service(), any -> new TreeMap<>())
                            .computeIfAbsent(part.replica(), any -> new ArrayList<>())
                            .add(state));
        }
        List<ReplicaGroup> groups = new ArrayList<>();
        byName.forEach((service, replicas) -> replicas.values()
                .forEach(mine ->
                        groups.add(new ReplicaGroup(service, mine.get(0).part().orElseThrow(), mine))));
        return groups;
    }

    public ReplicaId id() {
        return part.replica();
    }

    /** Whether it has all its units, be they bound yet or not. */
    public boolean isComplete() {
        return units.size() >= part.units();
    }

    /** Whether all units of a replica, or of the gain of a gang, are there and reported as bound. */
    static boolean areHere(GroupPart part, List<GpuState> units) {
        if (units.size() < part.units()) {
            return false;
        }
        for (GpuState unit : units) {
            if (!unit.isHere()) {
                return false;
            }
        }
        return true;
    }

    /** Whether all its units are reported as bound. */
    public boolean isHere() {
        return areHere(part, units);
    }

    /** Whether it serves, or is coming up to. */
    public boolean isActive() {
        return isComplete() && units.stream().allMatch(unit -> unit.owner().isActiveReplica());
    }

    /** Whether it serves. */
    public boolean isServing() {
        return isComplete() && units.stream().allMatch(unit -> unit.owner().isServing());
    }

    /** Whether it is warm, and demand does not need it now. */
    public boolean isIdle() {
        return isComplete() && units.stream().allMatch(unit -> unit.owner().isIdleReplica());
    }

    /** Whether it is warm and may be stopped if another tenant needs its units. */
    public boolean isSleeping() {
        return isComplete() && units.stream().allMatch(unit -> unit.owner().isSleeping());
    }

    /** Whether it is warm, be it needed or not. */
    public boolean isWarm() {
        return isComplete() && units.stream().allMatch(unit -> unit.owner().isUp());
    }

    /** The kind of its GPUs. */
    public Optional<KindId> kind() {
        return units.get(0).kind();
    }

    public List<GpuId> gpus() {
        return units.stream().map(GpuState::gpuId).toList();
    }

    /** As a decision names it. */
    public ReplicaUnits named() {
        return new ReplicaUnits(part.replica(), part.shape(), part.role(), gpus());
    }
}

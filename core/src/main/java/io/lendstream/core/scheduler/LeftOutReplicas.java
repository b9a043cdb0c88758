package io.lendstream.core.scheduler;

import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Replica;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * The running replicas of a service with shapes that have a form which it does not declare any more. They answer until
 * others do. If these find no other units, left-out replicas make room for them: for one replica after the other, as
 * far as the rest answers the load, or if the service is under its floor.
 */
final class LeftOutReplicas {
    private final List<GroupNeed> roles;
    private final List<ReplicaGroup> leftOut = new ArrayList<>();
    private final List<ReplicaGroup> declared = new ArrayList<>();
    private final List<GpuState> singles;
    private boolean someStart;

    LeftOutReplicas(StepBuilder builder, ServiceState service, List<GroupNeed> roles) {
        this.roles = roles;
        ServiceId name = service.spec().service();
        for (ReplicaGroup group : ReplicaGroup.of(builder.clusterIndex(), name)) {
            if (group.isServing()) {
                (service.spec().hardware().declares(group.part(), group.kind()) ? declared : leftOut).add(group);
            }
            someStart |= group.isActive() && !group.isServing();
        }
        this.singles = new ArrayList<>(singles(builder, name));
        int active = singles.size();
        singles.removeIf(unit -> !unit.owner().isServing());
        someStart |= singles.size() < active;
    }

    /** Active replicas of one unit that a service with shapes has from before it declared them. */
    static List<GpuState> singles(StepBuilder builder, ServiceId service) {
        List<GpuState> singles = new ArrayList<>();
        for (Map.Entry<Replica, GpuState> replica :
                builder.clusterIndex().gpus().replicasOf(service)) {
            GpuState unit = replica.getValue();
            if (unit.part().isEmpty() && unit.owner().isActiveReplica()) {
                singles.add(unit);
            }
        }
        return singles;
    }

    boolean isAny() {
        return !leftOut.isEmpty() || !singles.isEmpty();
    }

    /** Whether a replica of the service starts. */
    boolean someStart() {
        return someStart;
    }

    /** The units of all of them. */
    List<GpuState> units() {
        List<GpuState> units = new ArrayList<>(singles);
        leftOut.forEach(group -> units.addAll(group.units()));
        return units;
    }

    /** The units of those each of which the load does not need. */
    List<GpuState> spareUnits() {
        List<GpuState> spare = new ArrayList<>();
        for (GpuState single : singles) {
            if (areSpare(List.of(single.gpuId()))) {
                spare.add(single);
            }
        }
        for (ReplicaGroup group : leftOut) {
            if (areSpare(group.gpus())) {
                spare.addAll(group.units());
            }
        }
        return spare;
    }

    /** How many units stop with a unit. */
    static int size(GpuState unit) {
        return unit.part().map(GroupPart::units).orElse(1);
    }

    /** Whether all replicas that serve answer the load without those that have some of these units. */
    boolean areSpare(Collection<GpuId> units) {
        for (GroupNeed need : roles) {
            List<Double> capacities = new ArrayList<>();
            for (ReplicaGroup group : declared) {
                if (need.capacity(group) > 0) {
                    capacities.add(need.capacity(group));
                }
            }
            for (ReplicaGroup group : leftOut) {
                if (group.gpus().stream().noneMatch(units::contains)) {
                    capacities.add(need.likely(group.part().role(), group.units()));
                }
            }
            for (GpuState single : singles) {
                if (!units.contains(single.gpuId())) {
                    capacities.add(need.likely(ReplicaRole.ALL, List.of(single)));
                }
            }
            capacities.removeIf(capacity -> capacity <= 0);
            if (!need.isAnsweredBy(capacities)) {
                return false;
            }
        }
        return true;
    }
}

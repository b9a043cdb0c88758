package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Approved advice about replicas of several units: whether it is still possible, and the decision. */
record ApprovedGroups(StepBuilder builder, SchedulerSettings settings) {
    /** Why replicas cannot be started or woken now; empty if they can, or if each has one unit. */
    Optional<String> against(Action.Serve serve) {
        Optional<ServiceState> service = builder.services().get(serve.service());
        boolean hasGroups = service.filter(known -> known.spec().hasGroups()).isPresent();
        if (hasGroups == serve.replicas().isEmpty()) {
            return Optional.of("service %s has declared other shapes since".formatted(serve.service()));
        }
        for (ReplicaUnits replica : serve.replicas()) {
            boolean isPossible = serve.warm()
                    ? warm(replica, serve).isPresent()
                    : shape(service, replica)
                            .filter(shape -> fits(shape, replica))
                            .isPresent();
            if (!isPossible) {
                return Optional.of(
                        serve.warm()
                                ? "replica %s of %s is not warm and whole".formatted(replica.replica(), serve.service())
                                : "service %s has declared other shapes since".formatted(serve.service()));
            }
        }
        return Optional.empty();
    }

    /** Whether a replica has as many units of one kind on each of as many nodes as a shape says. */
    private boolean fits(ReplicaShape shape, ReplicaUnits replica) {
        Map<NodeId, Integer> nodes = new TreeMap<>();
        Set<Optional<KindId>> kinds = new HashSet<>();
        for (GpuId id : replica.units()) {
            Optional<GpuState> unit = builder.gpus().get(id);
            if (unit.isEmpty()) {
                return shape.units() == replica.units().size(); // the check of free units refuses it
            }
            nodes.merge(unit.get().nodeId(), 1, Integer::sum);
            kinds.add(unit.get().kind());
        }
        return nodes.size() == shape.nodes()
                && nodes.values().stream().allMatch(units -> units == shape.gpusPerNode())
                && kinds.size() == 1
                && kinds.stream().allMatch(shape::uses);
    }

    private static Optional<ReplicaShape> shape(Optional<ServiceState> service, ReplicaUnits replica) {
        return service.flatMap(known -> known.spec().hardware().named(replica.shape()));
    }

    private Optional<ReplicaGroup> warm(ReplicaUnits replica, Action.Serve serve) {
        return ReplicaGroup.of(builder.clusterIndex(), serve.service()).stream()
                .filter(group -> group.isIdle() && group.gpus().equals(replica.units()))
                .findFirst();
    }

    /** Starts or wakes the replicas. */
    void serve(ServiceState service, Action.Serve serve, Reason reason) {
        GroupChanges changes = new GroupChanges(builder, settings);
        if (serve.warm()) {
            changes.wake(
                    service,
                    serve.replicas().stream()
                            .flatMap(replica -> warm(replica, serve).stream())
                            .toList(),
                    reason);
            return;
        }
        List<UnitSet> sets = new ArrayList<>();
        for (ReplicaUnits replica : serve.replicas()) {
            List<GpuState> units = replica.units().stream().map(builder::gpu).toList();
            ReplicaShape shape = shape(Optional.of(service), replica).orElseThrow();
            sets.add(new UnitSet(shape, units.get(0).kind(), units, true));
        }
        changes.start(service, sets, reason);
    }

    /**
     * Whether a unit is left of a replica that has lost others, or of one that its service does not declare any more.
     */
    boolean isOver(GpuId gpu) {
        return builder.gpus()
                .get(gpu)
                .flatMap(unit -> ReplicaGroup.of(builder.clusterIndex(), unit))
                .filter(group -> !group.isComplete() || isLeftOut(group))
                .isPresent();
    }

    private boolean isLeftOut(ReplicaGroup group) {
        return group.isWarm()
                && builder.services()
                        .get(group.service())
                        .filter(service -> !service.spec().hardware().declares(group.part(), group.kind()))
                        .isPresent();
    }

    /** Why warm replicas cannot be stopped: a role would be under its floor. */
    Optional<String> underFloor(Action.Idle idle, InferenceService spec) {
        Set<GpuId> stopped = Set.copyOf(idle.gpus());
        Map<ReplicaRole, Integer> warm = new TreeMap<>();
        Set<ReplicaRole> lessened = new TreeSet<>();
        for (ReplicaGroup group : ReplicaGroup.of(builder.clusterIndex(), idle.service())) {
            ReplicaRole role = group.part().role();
            boolean isStopped = group.gpus().stream().anyMatch(stopped::contains);
            if (group.isWarm() && isStopped) {
                lessened.add(role);
            } else if (group.isWarm()) {
                warm.merge(role, 1, Integer::sum);
            }
        }
        for (ReplicaRole role : lessened) {
            int left = warm.getOrDefault(role, 0);
            if (left < spec.floor(role)) {
                return Optional.of("service %s would have %s, fewer than its floor of %d"
                        .formatted(idle.service(), Reason.counted(left, role.replica()), spec.floor(role)));
            }
        }
        return Optional.empty();
    }
}

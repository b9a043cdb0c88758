package io.lendstream.core.history;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * A replica of several units works only whole: none serves or stays warm before all its units are bound, and what is
 * left of one that has lost a unit is stopped in the same step. A decision starts it on the units of its shape, which
 * are of one kind.
 */
final class GroupRule implements HistoryRule {
    private final Violations violations;

    GroupRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void decided(Decision decision, ReplayedEvent replayed) {
        decision.action()
                .asServe()
                .filter(serve -> !serve.warm())
                .ifPresent(serve -> started(decision, serve, replayed.state()));
    }

    private void started(Decision decision, Action.Serve serve, ClusterState state) {
        Optional<ServiceState> service = state.services().get(serve.service());
        boolean hasGroups = service.filter(known -> known.spec().hasGroups()).isPresent();
        if (hasGroups && serve.replicas().isEmpty()) {
            violations.add(Rule.GROUP.violation("decision %s starts replicas of one unit, but %s declares shapes"
                    .formatted(decision.id(), serve.service())));
        }
        for (ReplicaUnits replica : serve.replicas()) {
            boolean fits = service.flatMap(known -> known.spec().hardware().named(replica.shape()))
                    .filter(shape -> fits(shape, replica, state))
                    .isPresent();
            if (!fits) {
                violations.add(
                        Rule.GROUP.violation("decision %s starts replica %s on units that do not fit shape %s: %s"
                                .formatted(decision.id(), replica.replica(), replica.shape(), replica.units())));
            }
        }
    }

    private static boolean fits(ReplicaShape shape, ReplicaUnits replica, ClusterState state) {
        Map<NodeId, Integer> nodes = new TreeMap<>();
        Set<Optional<KindId>> kinds = new HashSet<>();
        for (GpuId id : replica.units()) {
            Optional<GpuState> unit = state.gpus().get(id);
            unit.ifPresent(known -> nodes.merge(known.nodeId(), 1, Integer::sum));
            unit.ifPresent(known -> kinds.add(known.kind()));
        }
        return nodes.size() == shape.nodes()
                && kinds.size() == 1
                && nodes.values().stream().allMatch(units -> units == shape.gpusPerNode());
    }

    @Override
    public void settled(ReplayedEvent replayed) {
        ClusterState state = replayed.state();
        boolean mayDecide =
                replayed.scheduler().decidesFrom().filter(state.now()::isBefore).isEmpty();
        if (!mayDecide
                || state.mode().isAdvisory()
                || replayed.changed().owners().isEmpty()) {
            return;
        }
        for (ReplicaGroup group : ReplicaGroup.all(state.clusterIndex())) {
            boolean isUp = group.units().stream().anyMatch(unit -> unit.owner().isUp());
            if (!group.isComplete() || (isUp && !(group.isHere() && group.isWarm()))) {
                violations.add(Rule.GROUP.violation("replica %s of %s has %d of its %d units at event %d, and goes on"
                        .formatted(
                                group.id(),
                                group.service(),
                                group.units().stream()
                                        .filter(unit -> unit.owner().isUp())
                                        .count(),
                                group.part().units(),
                                replayed.event().sequence())));
            }
        }
    }
}

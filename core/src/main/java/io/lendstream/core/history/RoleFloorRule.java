package io.lendstream.core.history;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.ServiceShapes;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * No role of a service is taken under its floor by a decision. A fault may take replicas away. Only replicas in shapes
 * that the service declares count.
 */
final class RoleFloorRule implements HistoryRule {
    private final Violations violations;
    private final Map<ServiceId, Map<ReplicaRole, Integer>> warmBefore = new HashMap<>();
    private boolean ended;

    RoleFloorRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void before(DomainEvent event, ClusterState state) {
        ended = FloorRule.endsReplica(event, state);
    }

    @Override
    public void settled(ReplayedEvent replayed) {
        if (replayed.changed().owners().isEmpty()) {
            return;
        }
        ClusterState state = replayed.state();
        for (ServiceState service : state.services().values()) {
            if (service.spec().hardware().hasRoles()) {
                floors(service, state, ended || replayed.hasQuarantined());
            }
        }
    }

    private void floors(ServiceState service, ClusterState state, boolean fault) {
        ServiceId name = service.spec().service();
        ServiceShapes hardware = service.spec().hardware();
        Map<ReplicaRole, Integer> warm = new TreeMap<>();
        for (ReplicaGroup group : ReplicaGroup.of(state.clusterIndex(), name)) {
            ReplicaRole role = group.part().role();
            boolean isDeclared = hardware.named(group.part().shape())
                    .filter(shape -> shape.role() == role)
                    .isPresent();
            if (isDeclared && group.isWarm()) {
                warm.merge(role, 1, Integer::sum);
            }
        }
        Map<ReplicaRole, Integer> before = warmBefore.getOrDefault(name, Map.of());
        for (ReplicaRole role : hardware.roles()) {
            int has = warm.getOrDefault(role, 0);
            int had = before.getOrDefault(role, 0);
            int floor = service.spec().floor(role);
            if (has < floor && has < had && !fault) {
                violations.add(
                        Rule.ROLE_FLOOR,
                        "service %s went from %d to %s at %s, under the floor of the role, %d"
                                .formatted(name, had, Reason.counted(has, role.replica()), state.now(), floor));
            }
        }
        warmBefore.put(name, warm);
    }
}

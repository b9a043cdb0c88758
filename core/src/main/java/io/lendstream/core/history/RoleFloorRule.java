package io.lendstream.core.history;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * No role of a service is taken under its floor by a decision. A fault may take replicas away. Only replicas in shapes
 * that the service declares now count, before a step as after it: another declaration takes none away.
 */
final class RoleFloorRule implements HistoryRule {
    private final Violations violations;
    private Optional<ClusterState> before = Optional.empty();
    private boolean ended;

    RoleFloorRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void before(DomainEvent event, ClusterState state) {
        before = Optional.of(state);
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
        Map<ReplicaRole, Integer> warm = warm(service, state);
        Map<ReplicaRole, Integer> warmBefore =
                before.map(known -> warm(service, known)).orElse(Map.of());
        for (ReplicaRole role : service.spec().hardware().roles()) {
            int has = warm.getOrDefault(role, 0);
            int had = warmBefore.getOrDefault(role, 0);
            int floor = service.spec().floor(role);
            if (has < floor && has < had && !fault) {
                violations.add(
                        Rule.ROLE_FLOOR,
                        "service %s went from %d to %s at %s, under the floor of the role, %d"
                                .formatted(name, had, Reason.counted(has, role.replica()), state.now(), floor));
            }
        }
    }

    /** The warm replicas of a service in a state, by role. */
    private static Map<ReplicaRole, Integer> warm(ServiceState service, ClusterState state) {
        Map<ReplicaRole, Integer> warm = new TreeMap<>();
        for (ReplicaGroup group :
                ReplicaGroup.of(state.clusterIndex(), service.spec().service())) {
            if (group.isWarm() && FloorRule.declares(service.spec(), group)) {
                warm.merge(group.part().role(), 1, Integer::sum);
            }
        }
        return warm;
    }
}

package io.lendstream.core.state;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.ServiceId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The warm replicas of a service on whole GPUs, and which of them may be stopped so that the service, or each of its
 * roles, keeps its floor. Replicas in a form that the service does not declare any more may answer its load until
 * others are warm: those that serve are kept until every floor is.
 */
public final class WarmReplicas {
    private final InferenceService spec;
    private final List<WarmReplica> all = new ArrayList<>();
    /** Replicas that are planned with, by role. */
    private final Map<ReplicaRole, Integer> planned = new HashMap<>();
    /** Replicas of a service without roles that keep its floor, be they planned with or not. */
    private int keeping;

    private WarmReplicas(InferenceService spec) {
        this.spec = spec;
    }

    public static WarmReplicas of(ClusterIndex index, InferenceService spec) {
        WarmReplicas warm = new WarmReplicas(spec);
        ServiceId name = spec.service();
        for (Map.Entry<Replica, GpuState> entry :
                index.gpus().replicas().from(key -> key.service().compareTo(name) >= 0)) {
            if (!entry.getKey().service().equals(name)) {
                break;
            }
            GpuState unit = entry.getValue();
            if (unit.part().isEmpty() && unit.isWhole() && unit.owner().isUp()) {
                warm.add(new WarmReplica(name, Optional.empty(), List.of(unit)));
            }
        }
        for (ReplicaGroup group : ReplicaGroup.of(index, name)) {
            if (group.isWarm()) {
                warm.add(new WarmReplica(name, Optional.of(group), group.units()));
            }
        }
        return warm;
    }

    private void add(WarmReplica replica) {
        all.add(replica);
        count(replica, 1);
    }

    public List<WarmReplica> all() {
        return all;
    }

    /** Counts a replica no more. */
    public void stop(WarmReplica replica) {
        count(replica, -1);
    }

    /** Counts a replica again that was counted no more. */
    public void keep(WarmReplica replica) {
        count(replica, 1);
    }

    private void count(WarmReplica replica, int by) {
        if (isPlanned(replica)) {
            planned.merge(role(replica), by, Integer::sum);
        }
        keeping += keepsFloor(replica) ? by : 0;
    }

    /** Whether every floor is kept without a replica. */
    public boolean mayStop(WarmReplica replica) {
        if (!keepsFloor(replica)) {
            return true;
        }
        if (!spec.hardware().hasRoles() && keeping <= spec.floor(ReplicaRole.ALL)) {
            return false;
        }
        if (isPlanned(replica)) {
            return planned.getOrDefault(role(replica), 0) > spec.floor(role(replica));
        }
        for (ReplicaRole role : spec.hasGroups() ? spec.hardware().roles() : List.of(ReplicaRole.ALL)) {
            if (planned.getOrDefault(role, 0) < spec.floor(role)) {
                return false;
            }
        }
        return true;
    }

    private static ReplicaRole role(WarmReplica replica) {
        return replica.group().map(group -> group.part().role()).orElse(ReplicaRole.ALL);
    }

    /** Whether a replica is planned with: it has a form and a kind that the service declares. */
    private boolean isPlanned(WarmReplica replica) {
        Optional<ReplicaGroup> group = replica.group();
        if (group.isEmpty()) {
            return !spec.hasGroups() && spec.uses(replica.first().kind());
        }
        return spec.hardware()
                .named(group.get().part().shape())
                .filter(shape -> shape.role() == group.get().part().role())
                .filter(shape -> shape.units() == group.get().part().units()
                        && shape.uses(group.get().kind()))
                .isPresent();
    }

    private boolean keepsFloor(WarmReplica replica) {
        boolean isUsual = isPlanned(replica) || (replica.group().isEmpty() && !spec.hasGroups());
        return isUsual || replica.isServing();
    }
}

package io.lendstream.core.scheduler;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Replica;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The time from a decision to a replica of a role that answers, in the worst usual case. */
record StartLead(SchedulerSettings settings) {
    /** The notice of a loan, and then the longest start in any shape of the role. */
    Duration of(ServiceState service, ReplicaRole role) {
        return lead(service, role, false);
    }

    /**
     * The same, with starts from cache if the service has a replica on every node of inference: then its model is
     * wherever a replica could start.
     */
    Duration of(
            ServiceState service, ReplicaRole role, PersistentMap<NodeId, NodeState> nodes, List<ReplicaGroup> groups) {
        boolean mayBeCached = false;
        for (ReplicaShape shape : service.spec().hardware().shapes()) {
            mayBeCached |= shape.role() == role && shape.starts().cached().isPresent();
        }
        return lead(service, role, mayBeCached && isEverywhere(nodes, nodes(groups)));
    }

    /**
     * The same of replicas of one GPU.
     *
     * @param warmUp the longest one, on the kinds that count
     */
    Duration ofSingle(InferenceService service, Duration warmUp) {
        Optional<StartTimes> starts = service.singleStarts();
        return settings.notice().plus(starts.isEmpty() ? warmUp : starts.get().longest(warmUp, false));
    }

    /** The same, with starts from cache if the service has a replica on every node of inference. */
    Duration ofSingle(StepBuilder builder, InferenceService service, Duration warmUp) {
        Optional<StartTimes> starts = service.singleStarts();
        if (starts.flatMap(StartTimes::cached).isEmpty()) {
            return ofSingle(service, warmUp);
        }
        boolean isCached = isEverywhere(builder.nodes(), nodes(builder, service.service()));
        return settings.notice().plus(starts.get().longest(warmUp, isCached));
    }

    private Duration lead(ServiceState service, ReplicaRole role, boolean isCached) {
        Duration longest = Duration.ZERO;
        for (ReplicaShape shape : settings.timed(service).hardware().planned(role)) {
            Duration start = shape.longestStart(isCached);
            longest = start.compareTo(longest) > 0 ? start : longest;
        }
        return settings.notice().plus(longest);
    }

    /** The nodes where replicas are up, so that their model is there. */
    static Set<NodeId> nodes(List<ReplicaGroup> groups) {
        Set<NodeId> nodes = new HashSet<>();
        for (ReplicaGroup group : groups) {
            for (GpuState unit : group.units()) {
                if (unit.owner().isUp()) {
                    nodes.add(unit.nodeId());
                }
            }
        }
        return nodes;
    }

    /** The same of replicas of one GPU. */
    static Set<NodeId> nodes(StepBuilder builder, ServiceId service) {
        Set<NodeId> nodes = new HashSet<>();
        for (Map.Entry<Replica, GpuState> replica :
                builder.clusterIndex().gpus().replicasOf(service)) {
            if (replica.getValue().owner().isUp()) {
                nodes.add(replica.getValue().nodeId());
            }
        }
        return nodes;
    }

    private static boolean isEverywhere(PersistentMap<NodeId, NodeState> nodes, Set<NodeId> mine) {
        for (NodeState state : nodes.values()) {
            if (state.node().pool() == Pool.INFERENCE
                    && !mine.contains(state.node().nodeId())) {
                return false;
            }
        }
        return true;
    }
}

package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ClusterState;
import java.util.List;
import java.util.Set;

/**
 * The result of an event.
 *
 * @param state the next state
 * @param decisions in the order in which they were made
 * @param changed what differs between the two states
 */
public record Step(ClusterState state, List<Decision> decisions, Changed changed) {
    public Step {
        decisions = List.copyOf(decisions);
    }

    /** The entries of a state that a step put, changed or removed, in order. */
    public record Changed(
            Set<NodeId> nodes,
            Set<GpuId> gpus,
            Set<ServiceId> services,
            Set<JobId> jobs,
            Set<QueueId> queues,
            Set<String> actuators,
            Set<String> applications,
            Set<GpuId> owners) {}
}

package io.lendstream.core.scheduler;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Replicas that a controller left when it stopped others, although they are not up yet. They are binding until they are
 * reported as bound, with the time of a new start. That they were late before counts no more: they go on to start.
 */
record ReplicaRestarts(StepBuilder builder, SchedulerSettings settings) {
    /** Whether the tenant of a unit that is to leave it was reported as bound there, or on a unit like it. */
    static boolean wasBound(GpuState leaving) {
        return leaving.part().map(GroupPart::here).orElse(leaving.slot().isPresent());
    }

    /**
     * The replica on a unit is not up. The other units of the replica wait for this one.
     *
     * @param unit a unit of a service, or of a job: jobs count as they are allocated
     * @param release the decision by which the replica was to be stopped; earlier reports do not tell it from the other
     */
    void await(GpuState unit, DecisionId release) {
        Optional<ServiceState> service = unit.owner().replicaOf().flatMap(builder.services()::get);
        if (service.isEmpty()) {
            return;
        }
        Instant deadline = builder.now()
                .plus(new BindTime(settings).of(service.get(), unit.part().map(GroupPart::shape), unit.kind()));
        builder.put(unit.in(unit.part().map(GroupPart::missing))
                .placed(Optional.empty())
                .withFailedBinds(0));
        for (GpuState each : together(unit)) {
            bind(builder.gpu(each.gpuId()), service.get().spec().service(), release, deadline);
        }
    }

    private List<GpuState> together(GpuState unit) {
        return ReplicaGroup.of(builder.clusterIndex(), unit)
                .map(ReplicaGroup::units)
                .orElse(List.of(unit));
    }

    /** It takes no unit that is free, but goes back to an earlier state of the same tenant. */
    private void bind(GpuState unit, ServiceId service, DecisionId release, Instant deadline) {
        Owner.Binding binding = new Owner.Binding(
                new Tenant.Service(service), release, deadline, Optional.empty(), unit.failedBinds() + 1);
        builder.describe(unit.with(binding, builder.now(), builder.eventSequence()));
    }
}

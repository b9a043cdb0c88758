package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.GpuIndex;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Replica;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Ends services that are no longer declared. Such a service has no demand, floor or selector. Its replicas are drained
 * and stopped, those that start once they are up. A level of trust that names it names none. When it holds no unit any
 * more, it is forgotten.
 *
 * @see <a href="https://kubernetes.io/docs/concepts/architecture/garbage-collection/">Kubernetes, deletion</a>
 */
record ServiceRemoval(StepBuilder builder) {
    /** Follows the record that ends a declaration. Its requests count no more. */
    void begin(ServiceState known, InferenceService removed) {
        ServiceId name = removed.service();
        builder.put(ServiceState.of(removed));
        builder.slices().ifPresent(plan -> builder.slices(plan.without(name)));
        builder.promises().keepOnly(name, Set.of());
        builder.mode().trust().ifPresent(trust -> builder.mode(builder.mode().with(trust.without(name))));
        if (known.spec().queue().isPresent()) {
            builder.invalidatePlan(); // its floor was a part of its queue's quota
        }
    }

    /** Forgets removed services that hold no unit. */
    void end() {
        if (builder.clusterIndex().removed().isEmpty()) {
            return; // asked at every event
        }
        for (ServiceId name : builder.clusterIndex().removed().values()) {
            if (!holdsUnits(name)) {
                builder.remove(name);
            }
        }
    }

    private boolean holdsUnits(ServiceId name) {
        GpuIndex gpus = builder.clusterIndex().gpus();
        return !gpus.replicasOf(name).isEmpty()
                || gpus.owed().stream()
                        .map(id -> builder.gpu(id).owner())
                        .anyMatch(owner ->
                                owner.holdingService().filter(name::equals).isPresent());
    }

    /** Stops the warm replicas of removed services. */
    void stopReplicas(SchedulerSettings settings) {
        for (ServiceId name : builder.clusterIndex().removed().values()) {
            List<GpuId> warm = new ArrayList<>();
            for (Map.Entry<Replica, GpuState> replica :
                    builder.clusterIndex().gpus().replicasOf(name)) {
                if (replica.getValue().owner().isUp()) {
                    warm.add(replica.getKey().gpu());
                }
            }
            if (!warm.isEmpty()) {
                new ReplicaChanges(builder, settings).stop(name, warm, reason(name, warm));
            }
        }
    }

    private Reason reason(ServiceId name, List<GpuId> warm) {
        return builder.because(
                ReasonCode.OVER,
                "%s is deleted: it stops its replicas on %s".formatted(name, Reason.counted(warm.size(), "GPU")),
                Map.of("stopped", (double) warm.size()),
                List.of());
    }
}

package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.util.Optional;

/**
 * The replicas of single GPUs that approved advice may wake or stop.
 *
 * @param reason of the advice
 */
record ApprovedStops(StepBuilder builder, Reason reason) {
    /** Whether a replica rests or sleeps, or works for a service that is being removed. */
    boolean isWarm(GpuId id, ServiceId service) {
        boolean isRemoved = builder.clusterIndex().removed().contains(service);
        return builder.gpus()
                .get(id)
                .filter(gpu -> gpu.isHeldBy(new Tenant.Service(service)))
                .filter(gpu -> isRemoved ? gpu.owner().isUp() : gpu.owner().isIdleReplica())
                .isPresent();
    }

    /** Whether a replica may be stopped: a warm one, or one that works where requests of another service wait. */
    boolean mayStop(GpuId id, ServiceId service) {
        return isWarm(id, service)
                || (reason.is(ReasonCode.WAITING)
                        && builder.gpus()
                                .get(id)
                                .filter(gpu -> gpu.isHeldBy(new Tenant.Service(service)))
                                .filter(gpu -> gpu.owner().isUp())
                                .isPresent());
    }

    /** Why replicas cannot be stopped: their service would be under its floor. */
    Optional<String> underFloor(Action.Idle idle, Optional<InferenceService> spec) {
        long left = builder.gpus().stream()
                .filter(gpu -> gpu.isHeldBy(new Tenant.Service(idle.service()))
                        && !gpu.owner().isReleasing()
                        && !idle.gpus().contains(gpu.gpuId())
                        && spec.filter(known -> !known.uses(gpu.kind())).isEmpty())
                .count();
        int floor = spec.map(InferenceService::floorReplicas).orElse(0);
        return left < floor
                ? Optional.of("service %s would have %s, fewer than its floor of %d"
                        .formatted(idle.service(), Reason.counted((int) left, "replica"), floor))
                : Optional.empty();
    }
}

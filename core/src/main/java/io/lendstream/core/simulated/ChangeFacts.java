package io.lendstream.core.simulated;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The facts about a change of a tenant, for a {@link DelayModel}.
 *
 * @param released GPUs that the tenant leaves
 * @param gained GPUs that the tenant gets
 * @param before how many GPUs the tenant has before
 * @param after how many GPUs the tenant has afterwards
 * @param localBatch batch of one replica, in samples; 0 if nothing trains afterwards
 * @param remaining how long an earlier change of the same job that is not in force yet would still take
 * @param job the job's submission, if known
 * @param service the service's spec, if known
 * @param paused whether the tenant is a job whose state is in host memory
 */
public record ChangeFacts(
        DecisionId decision,
        Tenant tenant,
        List<GpuId> released,
        List<GpuId> gained,
        int before,
        int after,
        Mechanism mechanism,
        int localBatch,
        Duration remaining,
        Optional<TrainingJob> job,
        Optional<InferenceService> service,
        boolean paused) {
    /** The facts about a change of a tenant that is not paused. */
    public ChangeFacts(
            DecisionId decision,
            Tenant tenant,
            List<GpuId> released,
            List<GpuId> gained,
            int before,
            int after,
            Mechanism mechanism,
            int localBatch,
            Duration remaining,
            Optional<TrainingJob> job,
            Optional<InferenceService> service) {
        this(decision, tenant, released, gained, before, after, mechanism, localBatch, remaining, job, service, false);
    }

    public ChangeFacts {
        released = List.copyOf(released);
        gained = List.copyOf(gained);
    }
}

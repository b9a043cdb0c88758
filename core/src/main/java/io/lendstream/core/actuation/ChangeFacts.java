package io.lendstream.core.actuation;

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
 * What carrying out a decision comes to, given what its tenant holds.
 *
 * @param released GPUs that the tenant leaves
 * @param gained GPUs that it gets
 * @param before how many GPUs it held
 * @param after how many it holds afterwards
 * @param localBatch batch of one replica, in samples; 0 where nothing trains afterwards
 * @param remaining how long an earlier change of the same tenant, not yet in force, would still have taken
 * @param job the job's submission, where it is known
 * @param service the service's spec, where it is known
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
        Optional<InferenceService> service) {
    public ChangeFacts {
        released = List.copyOf(released);
        gained = List.copyOf(gained);
    }
}

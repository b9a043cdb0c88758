package io.lendstream.core.actuation;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.List;

/**
 * GPUs that a tenant has to leave.
 *
 * @param decision the decision under which it is reported
 * @param by when the tenant has to be gone
 * @param reason the text of the report; usually empty
 */
record UnitRelease(DecisionId decision, Tenant tenant, List<GpuId> gpus, Instant by, String reason) {
    UnitRelease {
        gpus = List.copyOf(gpus);
    }

    PendingSteps.Subject subject() {
        return PendingSteps.Subject.of(decision, tenant, gpus);
    }
}

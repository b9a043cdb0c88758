package io.lendstream.core.event;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The report of an actuator on a decision.
 *
 * @param decision the decision; for a lease that ran out by itself, the one that granted it; for {@link Outcome#HOLDS}
 *     the last that the actuator has seen
 * @param actuator who reports
 * @param gpus the GPUs this report is about
 * @param tenant who uses, or used, them
 * @param reason why, where it is not the plain course
 */
public record ActuationReport(
        DomainId domain,
        DecisionId decision,
        String actuator,
        Instant at,
        Outcome outcome,
        List<GpuId> gpus,
        Optional<Tenant> tenant,
        Timings timings,
        String reason)
        implements Event {
    public ActuationReport {
        gpus = List.copyOf(gpus);
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.report(this);
    }
}

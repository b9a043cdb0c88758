package io.lendstream.core.actuation;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.Optional;

/**
 * A GPU that has a tenant, as the actuator knows.
 *
 * @param loan the lease by which a job has an inference GPU
 */
public record Holding(GpuId gpu, Tenant tenant, Phase phase, Optional<Loan> loan) {
    /** The phase of the tenant on the GPU. */
    public enum Phase {
        BINDING,
        BOUND,
        RELEASING
    }

    /**
     * A lease.
     *
     * @param granted the decision that granted it
     * @param until when the actuator takes the GPU back by itself
     */
    public record Loan(DecisionId granted, Instant until) {}

    Holding in(Phase next) {
        return new Holding(gpu, tenant, next, loan);
    }

    Holding onLoan(Loan next) {
        return new Holding(gpu, tenant, phase, Optional.of(next));
    }
}

package io.lendstream.core.actuation;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.Optional;

/**
 * A GPU that has a tenant, as the actuator knows.
 *
 * @param loan the lease by which a job has an inference GPU
 * @param replica the replica of several units that it is a part of
 * @param adopted the name of the process that runs there, if something else has started it
 */
public record Holding(
        GpuId gpu,
        Tenant tenant,
        Phase phase,
        Optional<Loan> loan,
        Optional<ReplicaUnits> replica,
        Optional<String> adopted) {
    /** A GPU that is no part of a replica of several units. */
    public Holding(GpuId gpu, Tenant tenant, Phase phase, Optional<Loan> loan) {
        this(gpu, tenant, phase, loan, Optional.empty(), Optional.empty());
    }

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

    /** The same under another name of its unit. */
    Holding named(GpuId other) {
        return new Holding(other, tenant, phase, loan, replica, adopted);
    }

    Holding in(Phase next) {
        return new Holding(gpu, tenant, next, loan, replica, adopted);
    }

    Holding in(ReplicaUnits group) {
        return new Holding(gpu, tenant, phase, loan, Optional.of(group), adopted);
    }

    Holding onLoan(Loan next) {
        return new Holding(gpu, tenant, phase, Optional.of(next), replica, adopted);
    }

    Holding withoutLoan() {
        return new Holding(gpu, tenant, phase, Optional.empty(), replica, adopted);
    }

    Holding adopting(String user) {
        return new Holding(gpu, tenant, phase, loan, replica, Optional.of(user));
    }
}

package io.lendstream.core.event;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A command of an operator to the scheduler.
 *
 * @param id a name for the command, unique, by which decisions refer to it
 * @param issuer who gave it
 * @param decision the decision it approves, for {@link Kind#APPROVE}
 * @param gpus the GPUs that were reset, for {@link Kind#RESET}
 * @param tenants the jobs and services of {@link Kind#ADOPT}; empty for all of the domain
 * @param trust the level, for {@link Kind#TRUST}
 */
public record ControlCommand(
        DomainId domain,
        String id,
        Instant at,
        String issuer,
        Kind kind,
        Optional<DecisionId> decision,
        List<GpuId> gpus,
        String reason,
        List<Tenant> tenants,
        Optional<TrustOrder> trust)
        implements Event {
    public ControlCommand {
        gpus = List.copyOf(gpus);
        tenants = List.copyOf(tenants);
    }

    /** A command that is about no job or service, and not about trust. */
    public ControlCommand(
            DomainId domain,
            String id,
            Instant at,
            String issuer,
            Kind kind,
            Optional<DecisionId> decision,
            List<GpuId> gpus,
            String reason) {
        this(domain, id, at, issuer, kind, decision, gpus, reason, List.of(), Optional.empty());
    }

    /** The same about some jobs and services. */
    public ControlCommand about(List<Tenant> some) {
        return new ControlCommand(domain, id, at, issuer, kind, decision, gpus, reason, some, trust);
    }

    /** The same with an order of a level of trust. */
    public ControlCommand ordering(TrustOrder order) {
        return new ControlCommand(domain, id, at, issuer, kind, decision, gpus, reason, tenants, Optional.of(order));
    }

    /** The kinds of commands. */
    public enum Kind {
        /** Not known to this version; logged, changes nothing. */
        UNKNOWN,
        /** No new loans, no changes to jobs, and no renewals of leases; reclaims for inference go on. */
        FREEZE,
        THAW,
        /** Decisions are marked advisory, and refused at the actuator. */
        ADVISORY_ON,
        ADVISORY_OFF,
        /** Carries out a decision that was only advice, if that is still possible. */
        APPROVE,
        /** Take every loan back and lend nothing until thawed. */
        RECLAIM_ALL,
        /** Quarantined GPUs were seen to; they are free again. */
        RESET,
        /** What runs already and is claimed is taken over now, also what a service claims later than usual. */
        ADOPT,
        /** Another level of trust. */
        TRUST
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.command(this);
    }
}

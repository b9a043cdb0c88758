package io.lendstream.core.event;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.persistent.WhenAbsent;
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
 * @param placements what is known about the units of tenants whose driver does not choose units; empty if each tenant
 *     has the named unit
 * @param found for {@link Outcome#FOUND}: all that the actuator finds and that some selector claims; for {@link
 *     Outcome#RELEASED}: what runs on there, which is not stopped
 * @param programFault whether the tenant's program is at fault, such as a missing one, and not the GPUs
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
        String reason,
        List<UnitPlacement> placements,
        List<FoundTenant> found,
        @WhenAbsent("false") boolean programFault)
        implements Event {
    public ActuationReport {
        gpus = List.copyOf(gpus);
        placements = List.copyOf(placements);
        found = List.copyOf(found);
    }

    /** A report that finds nothing. */
    public ActuationReport(
            DomainId domain,
            DecisionId decision,
            String actuator,
            Instant at,
            Outcome outcome,
            List<GpuId> gpus,
            Optional<Tenant> tenant,
            Timings timings,
            String reason,
            List<UnitPlacement> placements) {
        this(domain, decision, actuator, at, outcome, gpus, tenant, timings, reason, placements, List.of(), false);
    }

    /** What an actuator finds on its nodes. */
    public static ActuationReport found(
            DomainId domain, DecisionId decision, String actuator, Instant at, List<FoundTenant> found) {
        return new ActuationReport(
                domain,
                decision,
                actuator,
                at,
                Outcome.FOUND,
                List.of(),
                Optional.empty(),
                Timings.NONE,
                "",
                List.of(),
                found,
                false);
    }

    /** The report of an actuator whose driver chooses units. */
    public ActuationReport(
            DomainId domain,
            DecisionId decision,
            String actuator,
            Instant at,
            Outcome outcome,
            List<GpuId> gpus,
            Optional<Tenant> tenant,
            Timings timings,
            String reason) {
        this(domain, decision, actuator, at, outcome, gpus, tenant, timings, reason, List.of());
    }

    /** What it says about the place of a tenant that it names on a unit, if it says anything. */
    public Optional<UnitPlacement> placement(GpuId named) {
        for (UnitPlacement placement : placements) {
            if (placement.named().equals(named)) {
                return Optional.of(placement);
            }
        }
        return Optional.empty();
    }

    /** The same with what is known about the units of tenants. */
    public ActuationReport with(List<UnitPlacement> known) {
        return new ActuationReport(
                domain, decision, actuator, at, outcome, gpus, tenant, timings, reason, known, found, programFault);
    }

    /** The same, where the program may be at fault. */
    public ActuationReport ofProgram(boolean isAtFault) {
        return new ActuationReport(
                domain, decision, actuator, at, outcome, gpus, tenant, timings, reason, placements, found, isAtFault);
    }

    /** The same of a tenant that has left its GPUs, where something of it runs on. */
    public ActuationReport leaving(List<FoundTenant> behind) {
        return new ActuationReport(
                domain,
                decision,
                actuator,
                at,
                outcome,
                gpus,
                tenant,
                timings,
                reason,
                placements,
                behind,
                programFault);
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.report(this);
    }
}

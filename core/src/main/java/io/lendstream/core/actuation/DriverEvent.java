package io.lendstream.core.actuation;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.UnitPlacement;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.persistent.WhenAbsent;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** An event that a driver reports. A repeated event changes nothing. */
public sealed interface DriverEvent {
    /**
     * Nothing of a tenant runs on these units any more.
     *
     * @param forced whether the tenant had to be killed
     * @param reason added to the report; usually empty
     * @param placements which units these were, as far as a driver knows that does not choose them; else empty
     * @param ofProgram whether it ended because its program cannot be run
     * @param othersRunOn whether something that it started runs on there, which the driver does not touch
     */
    record Stopped(
            Tenant tenant,
            List<GpuId> units,
            boolean forced,
            String reason,
            List<UnitPlacement> placements,
            @WhenAbsent("false") boolean ofProgram,
            @WhenAbsent("false") boolean othersRunOn)
            implements DriverEvent {
        public Stopped {
            units = GpuId.sorted(units);
            placements = List.copyOf(placements);
        }

        public Stopped(
                Tenant tenant, List<GpuId> units, boolean forced, String reason, List<UnitPlacement> placements) {
            this(tenant, units, forced, reason, placements, false, false);
        }

        public Stopped(Tenant tenant, List<GpuId> units, boolean forced, String reason) {
            this(tenant, units, forced, reason, List.of());
        }

        /** The same, where its program may be at fault. */
        public Stopped ofProgram(boolean isAtFault) {
            return new Stopped(tenant, units, forced, reason, placements, isAtFault, othersRunOn);
        }

        /** The same, where something that it started may run on. */
        public Stopped leavingOthers(boolean runOn) {
            return new Stopped(tenant, units, forced, reason, placements, ofProgram, runOn);
        }
    }

    /**
     * A tenant runs on these units.
     *
     * @param placements which units these are, as far as a driver knows that does not choose them; else empty
     */
    record Started(Tenant tenant, List<GpuId> units, List<UnitPlacement> placements) implements DriverEvent {
        public Started {
            units = GpuId.sorted(units);
            placements = List.copyOf(placements);
        }

        public Started(Tenant tenant, List<GpuId> units) {
            this(tenant, units, List.of());
        }
    }

    /**
     * A decision, and all earlier decisions about the same tenant, are in force.
     *
     * @param pause how long the job did not train because of the change, if measured; counted from the order if the job
     *     did not train before
     */
    record InForce(Tenant tenant, DecisionId decision, Optional<Duration> pause) implements DriverEvent {
        public InForce(Tenant tenant, DecisionId decision) {
            this(tenant, decision, Optional.empty());
        }
    }

    /**
     * A decision about a tenant cannot be carried out. What may have started on GPUs that it was to get is killed.
     *
     * @param ofProgram whether the cause is the tenant's program, such as a missing one, and not the GPUs
     */
    record Failed(
            Tenant tenant,
            DecisionId decision,
            String reason,
            @WhenAbsent("false") boolean ofProgram) implements DriverEvent {
        public Failed(Tenant tenant, DecisionId decision, String reason) {
            this(tenant, decision, reason, false);
        }
    }

    /**
     * The MIG instances of a GPU were changed, or could not be.
     *
     * @param reason why they could not be changed; empty if they were
     */
    record Cut(DecisionId decision, GpuId gpu, boolean done, String reason) implements DriverEvent {}
}

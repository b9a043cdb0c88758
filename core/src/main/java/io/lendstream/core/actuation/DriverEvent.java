package io.lendstream.core.actuation;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What a driver tells of what has happened. One that is told again changes nothing. */
public sealed interface DriverEvent {
    /**
     * Nothing of a tenant runs on these units any more.
     *
     * @param forced whether it had to be killed
     * @param reason what there is to say beside that; usually empty
     */
    record Stopped(Tenant tenant, List<GpuId> units, boolean forced, String reason) implements DriverEvent {
        public Stopped {
            units = units.stream().sorted().toList();
        }
    }

    /** A tenant runs on these units. */
    record Started(Tenant tenant, List<GpuId> units) implements DriverEvent {
        public Started {
            units = units.stream().sorted().toList();
        }
    }

    /**
     * All of a decision, and of those before it about the same tenant, is in force.
     *
     * @param pause how long a job did not train for it, where that was measured; from the order where it did not train before
     */
    record InForce(Tenant tenant, DecisionId decision, Optional<Duration> pause) implements DriverEvent {
        public InForce(Tenant tenant, DecisionId decision) {
            this(tenant, decision, Optional.empty());
        }
    }

    /** A decision about a tenant cannot be brought about. What it was to gain will be ordered to be killed. */
    record Failed(Tenant tenant, DecisionId decision, String reason) implements DriverEvent {}

    /**
     * A GPU was cut anew, or could not be.
     *
     * @param reason why it could not be; empty where it was
     */
    record Cut(DecisionId decision, GpuId gpu, boolean done, String reason) implements DriverEvent {}
}

package io.lendstream.core.actuation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * A state that a driver has to bring about. It is not a step: after a restart the same order can be given again.
 */
public sealed interface Order {
    /** The decision that it follows. */
    DecisionId decision();

    /**
     * A tenant runs on these units and on no others.
     *
     * @param units what the tenant is to have; empty if it is to stop
     * @param leaving what the tenant has and is to leave
     * @param allocation what a job trains with; empty if that does not change
     * @param by when the tenant has to be gone from the units that it leaves
     */
    record Place(
            DecisionId decision,
            Tenant tenant,
            List<GpuId> units,
            List<GpuId> leaving,
            Optional<Allocation> allocation,
            Instant by)
            implements Order {
        public Place {
            units = GpuId.sorted(units);
            leaving = GpuId.sorted(leaving);
        }

        Place without(Collection<GpuId> gone) {
            List<GpuId> rest =
                    units.stream().filter(unit -> !gone.contains(unit)).toList();
            return new Place(decision, tenant, rest, leaving, allocation, by);
        }
    }

    /** Whatever still runs of a tenant on these units is killed at once. */
    record Force(DecisionId decision, Tenant tenant, List<GpuId> units) implements Order {
        public Force {
            units = GpuId.sorted(units);
        }
    }

    /** A GPU has these MIG instances, by profile and place, and no others; an empty list means a whole GPU. */
    record Cut(DecisionId decision, GpuId gpu, List<String> places) implements Order {
        public Cut {
            places = List.copyOf(places);
        }
    }

    /** A service batches by an action. */
    record Batch(DecisionId decision, Action.Batching batching) implements Order {}
}

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
 * What a driver is to bring about. It says how things are to be, not what is to be done: an order that is given again, after a
 * restart, is the same order.
 */
public sealed interface Order {
    /** By whose decision. */
    DecisionId decision();

    /**
     * A tenant runs on these units and on no others.
     *
     * @param units what it holds and is to hold; nothing where it is to stop
     * @param leaving what it holds and is to leave
     * @param allocation with what a job trains there; empty where nothing about that changes
     * @param by when it should have left what it is to leave
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
            units = units.stream().sorted().toList();
            leaving = leaving.stream().sorted().toList();
        }

        Place without(Collection<GpuId> gone) {
            List<GpuId> rest =
                    units.stream().filter(unit -> !gone.contains(unit)).toList();
            return new Place(decision, tenant, rest, leaving, allocation, by);
        }
    }

    /** What still runs of a tenant on these units is killed at once. */
    record Force(DecisionId decision, Tenant tenant, List<GpuId> units) implements Order {
        public Force {
            units = units.stream().sorted().toList();
        }
    }

    /** A GPU has these MIG instances, by profile and place, and no others; none for a whole GPU. */
    record Cut(DecisionId decision, GpuId gpu, List<String> places) implements Order {
        public Cut {
            places = List.copyOf(places);
        }
    }

    /** A service batches so. */
    record Batch(DecisionId decision, Action.Batching batching) implements Order {}
}

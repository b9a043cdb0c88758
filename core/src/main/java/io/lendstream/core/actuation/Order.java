package io.lendstream.core.actuation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Adopted;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

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
     * @param replicas the replicas of several units that run there, each with all its units, also those of other
     *     actuators; a service has a replica on each other unit
     * @param adopted what of this runs already because something else has started it, with its units: it is taken
     *     over as it is, or goes on; nothing is started in its place
     */
    record Place(
            DecisionId decision,
            Tenant tenant,
            List<GpuId> units,
            List<GpuId> leaving,
            Optional<Allocation> allocation,
            Instant by,
            List<ReplicaUnits> replicas,
            List<Adopted> adopted)
            implements Order {
        public Place {
            units = GpuId.sorted(units);
            leaving = GpuId.sorted(leaving);
            replicas = List.copyOf(replicas);
            adopted = List.copyOf(adopted);
        }

        /** An order without replicas of several units, and without anything that something else has started. */
        public Place(
                DecisionId decision,
                Tenant tenant,
                List<GpuId> units,
                List<GpuId> leaving,
                Optional<Allocation> allocation,
                Instant by) {
            this(decision, tenant, units, leaving, allocation, by, List.of(), List.of());
        }

        /** The units that run together: those of a replica, and each other unit by itself. */
        public List<List<GpuId>> together() {
            Set<GpuId> left = new TreeSet<>(units);
            List<List<GpuId>> together = new ArrayList<>();
            for (ReplicaUnits replica : replicas) {
                List<GpuId> here =
                        replica.units().stream().filter(left::contains).toList();
                if (!here.isEmpty()) {
                    together.add(here);
                    here.forEach(left::remove);
                }
            }
            left.forEach(unit -> together.add(List.of(unit)));
            return together;
        }

        /** The same by other names of units. */
        Place renamed(UnaryOperator<GpuId> names) {
            return new Place(
                    decision,
                    tenant,
                    units.stream().map(names).toList(),
                    leaving.stream().map(names).toList(),
                    allocation,
                    by,
                    replicas.stream().map(replica -> replica.renamed(names)).toList(),
                    adopted.stream().map(each -> each.renamed(names)).toList());
        }

        /** The same without units that are gone. A replica that has lost one of its units does not run any more. */
        Place without(Collection<GpuId> gone) {
            Set<GpuId> out = new TreeSet<>(gone);
            List<ReplicaUnits> kept = new ArrayList<>();
            for (ReplicaUnits replica : replicas) {
                if (replica.units().stream().anyMatch(gone::contains)) {
                    out.addAll(replica.units());
                } else {
                    kept.add(replica);
                }
            }
            List<GpuId> rest =
                    units.stream().filter(unit -> !out.contains(unit)).toList();
            List<Adopted> still = adopted.stream()
                    .filter(each -> rest.containsAll(each.units()))
                    .toList();
            return new Place(decision, tenant, rest, leaving, allocation, by, kept, still);
        }
    }

    /**
     * Whatever still runs of a tenant on these units is killed at once.
     *
     * @param users what is killed, by the users that the driver has named, where it does not choose units and more of
     *     the tenant runs than was ordered
     */
    record Force(DecisionId decision, Tenant tenant, List<GpuId> units, List<String> users) implements Order {
        public Force {
            units = GpuId.sorted(units);
            users = List.copyOf(users);
        }

        public Force(DecisionId decision, Tenant tenant, List<GpuId> units) {
            this(decision, tenant, units, List.of());
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

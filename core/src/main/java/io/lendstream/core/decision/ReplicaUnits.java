package io.lendstream.core.decision;

import io.lendstream.core.id.GpuId;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A replica of several units in a decision.
 *
 * @param shape the name of its shape in the service's declaration
 * @param units its units, on all nodes; in a decision that stops it, those that are left
 */
public record ReplicaUnits(ReplicaId replica, String shape, ReplicaRole role, List<GpuId> units) {
    public ReplicaUnits {
        units = GpuId.sorted(units);
    }

    /** The part of each unit, before it is bound. */
    public GroupPart part() {
        return new GroupPart(replica, shape, role, Math.max(1, units.size()), false);
    }

    /** The same by other names of units. */
    public ReplicaUnits renamed(UnaryOperator<GpuId> names) {
        return new ReplicaUnits(replica, shape, role, units.stream().map(names).toList());
    }
}

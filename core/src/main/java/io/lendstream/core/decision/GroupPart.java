package io.lendstream.core.decision;

import io.lendstream.core.id.Checks;

/**
 * The part that a unit has in a replica of several units. The replica works only if all its units are there.
 *
 * @param shape the name of its shape in the service's declaration
 * @param units how many units the replica has
 * @param here whether this unit is reported as bound
 */
public record GroupPart(ReplicaId replica, String shape, ReplicaRole role, int units, boolean here) {
    public GroupPart {
        Checks.atLeast("units", 1, units);
    }

    /** The same once the unit is bound. */
    public GroupPart arrived() {
        return new GroupPart(replica, shape, role, units, true);
    }
}

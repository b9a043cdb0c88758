package io.lendstream.core.decision;

import io.lendstream.core.id.Checks;

/**
 * The part that a unit has in a replica of several units, or in a gain: the units that a gang of training is about to
 * get. These work only if all of them are there.
 *
 * @param replica the name of the replica or the gain
 * @param shape the name of its shape in the service's declaration; {@link #GANG} in a gang
 * @param units how many units there are of it
 * @param here whether this unit is reported as bound
 */
public record GroupPart(ReplicaId replica, String shape, ReplicaRole role, int units, boolean here) {
    /** What stands for the shape in a gang. */
    public static final String GANG = "gang";

    public GroupPart {
        Checks.atLeast("units", 1, units);
    }

    /** The part of each of the units that a decision gives to a gang, before it is bound. */
    public static GroupPart ofGang(DecisionId decision, int units) {
        return new GroupPart(ReplicaId.of(decision, 0), GANG, ReplicaRole.ALL, units, false);
    }

    /** The same once the unit is bound. */
    public GroupPart arrived() {
        return new GroupPart(replica, shape, role, units, true);
    }

    /** The same where the unit is not bound yet. */
    public GroupPart missing() {
        return new GroupPart(replica, shape, role, units, false);
    }
}

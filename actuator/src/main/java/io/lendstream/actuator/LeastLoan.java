package io.lendstream.actuator;

import io.lendstream.core.event.Granularity;

/** The least that the system behind a driver can lend. */
enum LeastLoan {
    /** A MIG instance. */
    SLICE(Granularity.SLICE),
    /** A GPU. */
    GPU(Granularity.GPU),
    /** All units of a node. */
    NODE(Granularity.NODE),
    /** All units of a group of nodes: those with the same value of a label, or all of the actuator. */
    NODES(Granularity.NODE_GROUP);

    private final Granularity granularity;

    LeastLoan(Granularity granularity) {
        this.granularity = granularity;
    }

    Granularity granularity() {
        return granularity;
    }
}

package io.lendstream.core.state;

/** How sure it is which unit a tenant has. Records of a later version may have other symbols. */
public enum Certainty {
    /** A symbol that this version does not know; counts as {@link #SLOT}. */
    UNKNOWN,
    /** The tenant has this unit. */
    NAMED,
    /** The tenant has a unit of this node, kind, pool and profile, and the name stands for any of them. */
    SLOT
}

package io.lendstream.core.event;

/** How much of the place of a tenant a driver can choose. Records of a later version may have other symbols. */
public enum UnitChoice {
    /** A symbol that this version does not know; counts as {@link #NOTHING}. */
    UNKNOWN,
    /** Each unit. */
    UNIT,
    /** The node and the number of units there. */
    NODE,
    /** Only the number of units. */
    NOTHING
}

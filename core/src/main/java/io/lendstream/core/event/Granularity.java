package io.lendstream.core.event;

/** The least that a driver can lend. Records of a later version may have other symbols. */
public enum Granularity {
    /** A symbol that this version does not know; counts as {@link #NODE_GROUP}. */
    UNKNOWN,
    /** A MIG instance. */
    SLICE,
    /** A GPU. */
    GPU,
    /** All units of a node together. */
    NODE,
    /** All units of a group of nodes together. */
    NODE_GROUP
}

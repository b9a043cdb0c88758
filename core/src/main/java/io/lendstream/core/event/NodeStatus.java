package io.lendstream.core.event;

/** The status of a node, as its agent reports it. */
public enum NodeStatus {
    /** Not known to this version; treated as not ready. */
    UNKNOWN,
    READY,
    /** The agent has let the GPUs go, for maintenance or a MIG change; the node is not dead. */
    PAUSED,
    /** No driver or no GPU can be reached. */
    UNAVAILABLE
}

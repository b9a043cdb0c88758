package io.lendstream.core.event;

/** How near the nodes of a topology domain are to each other; the nearest first. */
public enum TopologyLevel {
    /** Written by a newer version: no level. */
    UNKNOWN,
    /** One node. */
    NODE,
    /** Nodes whose GPUs are joined by NVLink. */
    NVLINK_DOMAIN,
    /** Nodes of one rack. */
    RACK;

    /** For people, such as {@code rack}. */
    public String inWords() {
        return switch (this) {
            case UNKNOWN -> "unknown domain";
            case NODE -> "node";
            case NVLINK_DOMAIN -> "NVLink domain";
            case RACK -> "rack";
        };
    }
}

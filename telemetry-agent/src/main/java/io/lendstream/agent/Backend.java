package io.lendstream.agent;

import java.util.Locale;

/** Where samples come from. */
public enum Backend {
    /** NVIDIA's driver on this machine. */
    NVML,
    /** A dcgm-exporter of this machine. */
    DCGM,
    /** Nodes that do not exist, for demonstrations and tests. */
    SIMULATED,
    /** What was recorded elsewhere. */
    RECORDED;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}

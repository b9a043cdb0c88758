package io.lendstream.agent;

import java.util.Locale;

/** The source of samples. */
public enum Backend {
    /** NVIDIA's driver on this machine. */
    NVML,
    /** A dcgm-exporter of this machine. */
    DCGM,
    /** Nodes that do not exist, for demonstrations and tests. */
    SIMULATED,
    /** A recording of another machine. */
    RECORDED;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}

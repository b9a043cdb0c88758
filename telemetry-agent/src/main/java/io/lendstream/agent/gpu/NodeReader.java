package io.lendstream.agent.gpu;

import java.time.Instant;

/** Reads the GPUs, without a time limit; {@link PatientProbe} adds one. Always used by the same thread. */
interface NodeReader {
    GpuSnapshot look(Instant now);

    /** Releases all resources; the next read opens them again. */
    void letGo();
}

package io.lendstream.agent.gpu;

import java.time.Instant;

/** Looks, however long it takes; {@link PatientProbe} sees to the rest. Used by one thread at a time, and always the same. */
interface NodeReader {
    GpuSnapshot look(Instant now);

    /** Gives back whatever is open; the next look opens it again. */
    void letGo();
}

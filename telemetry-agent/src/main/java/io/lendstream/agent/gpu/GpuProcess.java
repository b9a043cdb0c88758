package io.lendstream.agent.gpu;

import io.lendstream.core.id.GpuId;
import java.util.Optional;

/**
 * A process that has a context on a GPU.
 *
 * @param gpuId the GPU, or the MIG instance, on which it runs
 * @param pid its number as the host counts
 * @param memoryUsedBytes of the GPU; absent where the driver does not tell
 */
public record GpuProcess(GpuId gpuId, long pid, Optional<Long> memoryUsedBytes) {
    public GpuProcess {
        if (pid < 0) {
            throw new IllegalArgumentException("pid must be at least 0, but was " + pid);
        }
    }
}

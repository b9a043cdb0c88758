package io.lendstream.agent.gpu;

import io.lendstream.core.id.GpuId;
import java.util.Optional;

/**
 * A process that has a context on a GPU.
 *
 * @param gpuId the GPU, or the MIG instance, on which it runs
 * @param pid its process ID on the host
 * @param memoryUsedBytes GPU memory that it uses; empty if the driver does not report it
 */
public record GpuProcess(GpuId gpuId, long pid, Optional<Long> memoryUsedBytes) {
    public GpuProcess {
        if (pid < 0) {
            throw new IllegalArgumentException("pid must be at least 0, but is " + pid);
        }
    }
}

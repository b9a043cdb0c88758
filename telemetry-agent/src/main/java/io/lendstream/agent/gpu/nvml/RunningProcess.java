package io.lendstream.agent.gpu.nvml;

import io.lendstream.core.id.GpuId;
import java.util.Optional;

/**
 * A process that computes on a GPU.
 *
 * @param gpuId the GPU, or the MIG instance, on which it runs
 * @param memoryUsedBytes empty if the driver does not report it
 */
public record RunningProcess(GpuId gpuId, long pid, Optional<Long> memoryUsedBytes) {}

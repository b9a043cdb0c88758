package io.lendstream.core.event;

import io.lendstream.core.cluster.GpuId;
import java.util.Optional;

/**
 * A MIG instance of a GPU.
 *
 * @param gpuId the parent's uuid with {@code /start:size}
 * @param profile its size by NVIDIA's name, such as {@code 3g.40gb}
 * @param start its first memory slice
 * @param size how many memory slices it covers
 * @param uuid its name for {@code CUDA_VISIBLE_DEVICES}, as NVML gives it: {@code MIG-...}
 */
public record GpuInstance(GpuId gpuId, String profile, int start, int size, long memoryBytes, Optional<String> uuid) {
    public GpuInstance {
        Checks.atLeast("start", 0, start);
        Checks.atLeast("size", 1, size);
        Checks.atLeast("memoryBytes", 0, memoryBytes);
    }
}

package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.GpuId;
import java.util.Optional;

/**
 * A MIG instance of a GPU.
 *
 * @param gpuId the parent's uuid with {@code /start:size}
 * @param profile its size by NVIDIA's name, such as {@code 3g.40gb}
 * @param start its first memory slice
 * @param size how many memory slices it covers
 * @param uuid its name for {@code CUDA_VISIBLE_DEVICES}, as NVML gives it: {@code MIG-...}; absent where it has no
 *     compute instance, or several
 * @param gpuInstanceId the driver's number for it on its GPU, used again once it is removed
 * @param computeInstanceId the driver's number for the compute instance in it, where it has one
 */
public record GpuInstance(
        GpuId gpuId,
        String profile,
        int start,
        int size,
        long memoryBytes,
        Optional<String> uuid,
        Optional<Integer> gpuInstanceId,
        Optional<Integer> computeInstanceId) {
    public GpuInstance {
        Checks.atLeast("start", 0, start);
        Checks.atLeast("size", 1, size);
        Checks.atLeast("memoryBytes", 0, memoryBytes);
    }

    /** One of which the driver's numbers are not known. */
    public GpuInstance(GpuId gpuId, String profile, int start, int size, long memoryBytes, Optional<String> uuid) {
        this(gpuId, profile, start, size, memoryBytes, uuid, Optional.empty(), Optional.empty());
    }
}

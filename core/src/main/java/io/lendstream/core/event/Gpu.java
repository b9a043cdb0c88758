package io.lendstream.core.event;

import io.lendstream.core.cluster.GpuId;
import java.util.List;
import java.util.Optional;

/**
 * A GPU of a node's inventory.
 *
 * @param index its number on the node, from 0
 * @param model the product name as NVML gives it
 * @param migEnabled whether it is cut into MIG instances; then only {@code instances} can be lent, not the GPU
 */
public record Gpu(
        GpuId gpuId,
        int index,
        String model,
        long memoryBytes,
        Optional<String> pciBusId,
        boolean migEnabled,
        List<GpuInstance> instances) {
    public Gpu {
        Checks.atLeast("index", 0, index);
        Checks.atLeast("memoryBytes", 0, memoryBytes);
        instances = List.copyOf(instances);
    }

    /** A whole GPU without MIG. */
    public static Gpu whole(GpuId gpuId, int index, String model, long memoryBytes) {
        return new Gpu(gpuId, index, model, memoryBytes, Optional.empty(), false, List.of());
    }
}

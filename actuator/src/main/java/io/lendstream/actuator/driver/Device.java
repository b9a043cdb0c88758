package io.lendstream.actuator.driver;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import java.util.Optional;

/**
 * A GPU or MIG instance, as programs on its node know it.
 *
 * @param index no other unit of the node has it. A whole GPU's is NVML's; an instance's is 16 and eight times its GPU's and its
 *     first memory slice
 * @param name for {@code CUDA_VISIBLE_DEVICES}; empty for an instance of which the inventory does not tell it
 */
public record Device(int index, Optional<String> name) {
    /** As many as a node may have without two units of one index. */
    private static final int GPUS = 16;

    private static final int SLICES = 8;

    public static Device of(Gpu gpu) {
        return new Device(gpu.index(), Optional.of(gpu.gpuId().value()));
    }

    public static Device of(Gpu gpu, GpuInstance instance) {
        return new Device(GPUS + SLICES * gpu.index() + instance.start(), instance.uuid());
    }
}

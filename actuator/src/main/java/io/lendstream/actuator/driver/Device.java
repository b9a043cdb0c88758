package io.lendstream.actuator.driver;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.id.KindId;
import java.util.Optional;

/**
 * A GPU or MIG instance, as programs on its node identify it.
 *
 * @param index unique on its node. A whole GPU has NVML's index; an instance has 16 plus eight times its GPU's index
 *     plus its first memory slice
 * @param name value for {@code CUDA_VISIBLE_DEVICES}; empty for an instance without a UUID in the inventory
 * @param kind the kind of a whole GPU; empty for an instance, whose speed is not that of a GPU
 */
public record Device(int index, Optional<String> name, Optional<KindId> kind) {
    /** The most GPUs of a node for which indexes stay unique. */
    private static final int GPUS = 16;

    private static final int SLICES = 8;

    public static Device of(Gpu gpu) {
        return new Device(gpu.index(), Optional.of(gpu.gpuId().value()), Optional.of(GpuKinds.PLAIN.of(gpu)));
    }

    public static Device of(Gpu gpu, GpuInstance instance) {
        return new Device(GPUS + SLICES * gpu.index() + instance.start(), instance.uuid(), Optional.empty());
    }
}

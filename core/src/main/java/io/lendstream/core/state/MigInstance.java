package io.lendstream.core.state;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.id.GpuId;

/**
 * The description of a unit that is a part of a GPU.
 *
 * @param gpu the GPU that it is cut from
 * @param profile its size by NVIDIA's name, such as {@code 3g.40gb}
 * @param start its first memory slice
 * @param size how many memory slices it covers
 * @param share its memory as a share of its GPU's; a fraction
 */
public record MigInstance(GpuId gpu, String profile, int start, int size, long memoryBytes, double share) {
    /** As a node's inventory has it. */
    public static MigInstance of(Gpu gpu, GpuInstance instance) {
        double share = gpu.memoryBytes() > 0 ? (double) instance.memoryBytes() / gpu.memoryBytes() : 1;
        return new MigInstance(
                gpu.gpuId(),
                instance.profile(),
                instance.start(),
                instance.size(),
                instance.memoryBytes(),
                Math.min(1, share));
    }

    /** Profile and first memory slice: {@code 3g.40gb@4}. */
    public String place() {
        return profile + "@" + start;
    }

    /** Whether both need the same memory of the same GPU. */
    public boolean overlaps(MigInstance other) {
        return gpu.equals(other.gpu) && start < other.start + other.size && other.start < start + size;
    }

    @Override
    public String toString() {
        return place() + " of " + gpu;
    }
}

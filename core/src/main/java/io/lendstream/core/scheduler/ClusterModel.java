package io.lendstream.core.scheduler;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.id.KindId;
import java.util.Optional;

/**
 * What the scheduler tells apart in a cluster.
 *
 * @param kinds whether the scheduler tells kinds of GPUs apart. Logs of older versions lack this setting
 * @param gpuKinds how GPUs are sorted into kinds
 */
public record ClusterModel(boolean kinds, GpuKinds gpuKinds) {
    /** All GPUs are alike. */
    public static final ClusterModel ALIKE = new ClusterModel(false, GpuKinds.PLAIN);

    /** GPUs are of the kind of their product. */
    public static final ClusterModel KINDS = new ClusterModel(true, GpuKinds.PLAIN);

    /** The kind of a GPU; empty if kinds are not told apart. */
    Optional<KindId> kind(Gpu gpu) {
        return kinds ? Optional.of(gpuKinds.of(gpu)) : Optional.empty();
    }
}

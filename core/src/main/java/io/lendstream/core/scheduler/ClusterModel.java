package io.lendstream.core.scheduler;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.id.KindId;
import java.util.Optional;

/**
 * What the scheduler tells apart in a cluster.
 *
 * @param kinds whether the scheduler tells kinds of GPUs apart. Logs of older versions lack this setting
 * @param gpuKinds how GPUs are sorted into kinds
 * @param topology the labels of nodes that name their NVLink domains and racks
 * @param users what it makes of the users of GPUs
 */
public record ClusterModel(boolean kinds, GpuKinds gpuKinds, TopologyLabels topology, UserRules users) {
    /** All GPUs are alike. */
    public static final ClusterModel ALIKE = new ClusterModel(false, GpuKinds.PLAIN);

    /** GPUs are of the kind of their product. */
    public static final ClusterModel KINDS = new ClusterModel(true, GpuKinds.PLAIN);

    /** A model without topology domains, in which users are shown only. */
    public ClusterModel(boolean kinds, GpuKinds gpuKinds) {
        this(kinds, gpuKinds, TopologyLabels.NONE, UserRules.SHOWN);
    }

    /** The same model with labels that name topology domains. */
    public ClusterModel with(TopologyLabels labels) {
        return new ClusterModel(kinds, gpuKinds, labels, users);
    }

    /** The same model with rules for the users of GPUs. */
    public ClusterModel with(UserRules other) {
        return new ClusterModel(kinds, gpuKinds, topology, other);
    }

    /** The kind of a GPU; empty if kinds are not told apart. */
    Optional<KindId> kind(Gpu gpu) {
        return kinds ? Optional.of(gpuKinds.of(gpu)) : Optional.empty();
    }
}

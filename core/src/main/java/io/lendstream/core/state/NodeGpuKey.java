package io.lendstream.core.state;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import org.jspecify.annotations.Nullable;

/** A GPU and its node: the key that lists GPUs node by node. */
public record NodeGpuKey(NodeId node, GpuId gpu) implements Comparable<NodeGpuKey> {
    /** Written out: it is asked very often, and the generated one is slow before a long warm-up. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof NodeGpuKey key && gpu.equals(key.gpu) && node.equals(key.node);
    }

    @Override
    public int hashCode() {
        return 31 * node.hashCode() + gpu.hashCode();
    }

    @Override
    public int compareTo(NodeGpuKey other) {
        int order = node.compareTo(other.node);
        return order != 0 ? order : gpu.compareTo(other.gpu);
    }
}

package io.lendstream.core.state;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;

/** A GPU and its node: the key that lists GPUs node by node. */
public record NodeGpuKey(NodeId node, GpuId gpu) implements Comparable<NodeGpuKey> {
    @Override
    public int compareTo(NodeGpuKey other) {
        int order = node.compareTo(other.node);
        return order != 0 ? order : gpu.compareTo(other.gpu);
    }
}

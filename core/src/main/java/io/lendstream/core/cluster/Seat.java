package io.lendstream.core.cluster;

/** A GPU and where it is: the key by which GPUs are listed node by node. */
public record Seat(NodeId node, GpuId gpu) implements Comparable<Seat> {
    @Override
    public int compareTo(Seat other) {
        int order = node.compareTo(other.node);
        return order != 0 ? order : gpu.compareTo(other.gpu);
    }
}

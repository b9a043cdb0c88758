package io.lendstream.core.id;

/** The name of a machine with GPUs. */
public record NodeId(String value) implements Comparable<NodeId> {
    public NodeId {
        Names.check("NodeId", value);
    }

    @Override
    public int compareTo(NodeId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}

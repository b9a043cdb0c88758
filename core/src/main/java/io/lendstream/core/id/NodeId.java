package io.lendstream.core.id;

import org.jspecify.annotations.Nullable;

/** The name of a machine with GPUs. */
public record NodeId(String value) implements Comparable<NodeId> {
    public NodeId {
        Names.check("NodeId", value);
    }

    /** Written out: it is asked very often, and the generated one is slow before a long warm-up. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof NodeId id && value.equals(id.value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public int compareTo(NodeId other) {
        return this == other ? 0 : value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}

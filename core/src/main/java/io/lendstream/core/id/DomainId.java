package io.lendstream.core.id;

import org.jspecify.annotations.Nullable;

/** The name of a set of nodes within which GPUs may be lent: the unit of ordering, scheduling and scale-out. */
public record DomainId(String value) implements Comparable<DomainId> {
    public DomainId {
        Names.check("DomainId", value);
    }

    /** Written out: it is asked very often, and the generated one is slow before a long warm-up. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof DomainId id && value.equals(id.value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public int compareTo(DomainId other) {
        return this == other ? 0 : value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}

package io.lendstream.core.id;

/** The name of a set of nodes within which GPUs may be lent: the unit of ordering, scheduling and scale-out. */
public record DomainId(String value) implements Comparable<DomainId> {
    public DomainId {
        Names.check("DomainId", value);
    }

    @Override
    public int compareTo(DomainId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}

package io.lendstream.core.id;

import org.jspecify.annotations.Nullable;

/** The name of a queue, by which a team's jobs and services share a quota. */
public record QueueId(String value) implements Comparable<QueueId> {
    public QueueId {
        Names.check("QueueId", value);
    }

    /** Written out: it is asked very often, and the generated one is slow before a long warm-up. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof QueueId id && value.equals(id.value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public int compareTo(QueueId other) {
        return this == other ? 0 : value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}

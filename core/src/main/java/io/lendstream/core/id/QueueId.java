package io.lendstream.core.id;

/** The name of a queue, by which a team's jobs and services share a quota. */
public record QueueId(String value) implements Comparable<QueueId> {
    public QueueId {
        Names.check("QueueId", value);
    }

    @Override
    public int compareTo(QueueId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}

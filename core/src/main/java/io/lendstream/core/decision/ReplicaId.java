package io.lendstream.core.decision;

/** The name of a replica of several units: the decision that starts it, and its number in that decision. */
public record ReplicaId(String value) implements Comparable<ReplicaId> {
    public ReplicaId {
        if (value.isBlank()) {
            throw new IllegalArgumentException("ReplicaId must not be blank");
        }
    }

    /** A replica that a decision starts, such as {@code prod/3/17#0}. */
    public static ReplicaId of(DecisionId decision, int number) {
        return new ReplicaId(decision + "#" + number);
    }

    @Override
    public int compareTo(ReplicaId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}

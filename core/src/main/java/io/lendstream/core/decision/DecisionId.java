package io.lendstream.core.decision;

import io.lendstream.core.id.DomainId;
import org.jspecify.annotations.Nullable;

/**
 * The unique name of a decision, which also gives its order. Actuators follow the highest epoch they have seen, and
 * within it the sequence.
 *
 * @param epoch the scheduler's term of office over the domain
 * @param sequence 1, 2, 3, ... within the domain, over all epochs
 */
public record DecisionId(DomainId domain, long epoch, long sequence) implements Comparable<DecisionId> {
    public DecisionId {
        if (epoch < 0 || sequence < 0) {
            throw new IllegalArgumentException(
                    "epoch and sequence must be at least 0, but were %d and %d".formatted(epoch, sequence));
        }
    }

    /** Reads {@code domain/epoch/sequence}. */
    public static DecisionId parse(String text) {
        int second = text.lastIndexOf('/');
        int first = second < 0 ? -1 : text.lastIndexOf('/', second - 1);
        if (first < 1) {
            throw new IllegalArgumentException(
                    "a decision id reads domain/epoch/sequence, but was '%s'".formatted(text));
        }
        try {
            return new DecisionId(
                    new DomainId(text.substring(0, first)),
                    Long.parseLong(text.substring(first + 1, second)),
                    Long.parseLong(text.substring(second + 1)));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "a decision id reads domain/epoch/sequence, but was '%s'".formatted(text), e);
        }
    }

    /** Written out: it is asked very often, and the generated one is slow before a long warm-up. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof DecisionId id
                && sequence == id.sequence
                && epoch == id.epoch
                && domain.equals(id.domain);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * domain.hashCode() + Long.hashCode(epoch)) + Long.hashCode(sequence);
    }

    @Override
    public int compareTo(DecisionId other) {
        int order = domain.compareTo(other.domain);
        if (order == 0) {
            order = Long.compare(epoch, other.epoch);
        }
        return order != 0 ? order : Long.compare(sequence, other.sequence);
    }

    @Override
    public String toString() {
        return domain + "/" + epoch + "/" + sequence;
    }
}

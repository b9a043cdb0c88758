package io.lendstream.core.decision;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Why a decision was made.
 *
 * @param code label of a {@link ReasonCode}, or of one that only a newer version knows
 * @param text the same for people, with the numbers that mattered
 * @param numbers those numbers by name
 * @param inputs sequence numbers, in {@code domain-events}, of the events it rests on
 */
public record Reason(String code, String text, Map<String, Double> numbers, List<Long> inputs) {
    public Reason {
        numbers = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(numbers));
        inputs = List.copyOf(inputs);
    }

    /** Whether a decision was made for this. */
    public boolean is(ReasonCode other) {
        return code.equals(other.label());
    }

    /** A number of things, for people: {@code 1 GPU}, {@code 2 GPUs}. */
    public static String counted(int number, String one) {
        return number == 1 ? "1 " + one : number + " " + one + "s";
    }
}

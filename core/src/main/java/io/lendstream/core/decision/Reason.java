package io.lendstream.core.decision;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The reason of a decision.
 *
 * @param code label of a {@link ReasonCode}; this version may not know the codes of newer versions
 * @param text a sentence for operators: the object, the change, the cause
 * @param numbers the numbers of the sentence and of the decision, by name
 * @param inputs sequence numbers, in {@code domain-events}, of the events that led to the decision
 */
public record Reason(String code, String text, Map<String, Double> numbers, List<Long> inputs) {
    public Reason {
        numbers = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(numbers));
        inputs = List.copyOf(inputs);
    }

    /**
     * A reason that rests on an event and on others.
     *
     * @param others sequence numbers; 0 stands for none
     */
    public static Reason of(ReasonCode code, String text, Map<String, Double> numbers, List<Long> others, long event) {
        TreeSet<Long> inputs = new TreeSet<>(others);
        inputs.remove(0L);
        inputs.add(event);
        return new Reason(code.label(), text, numbers, List.copyOf(inputs));
    }

    /** Whether this is the cause. */
    public boolean is(ReasonCode other) {
        return code.equals(other.label());
    }

    /** A number with its unit: {@code 1 GPU}, {@code 2 GPUs}. */
    public static String counted(int number, String one) {
        return number == 1 ? "1 " + one : number + " " + one + "s";
    }
}

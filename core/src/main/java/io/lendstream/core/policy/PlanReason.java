package io.lendstream.core.policy;

import java.util.Map;
import java.util.TreeMap;

/**
 * The reason for a job's change in a plan.
 *
 * @param text a sentence for operators that begins with the job's name
 * @param numbers the numbers of the sentence, by name
 */
public record PlanReason(String text, Map<String, Double> numbers) {
    public PlanReason {
        numbers = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(numbers));
    }
}

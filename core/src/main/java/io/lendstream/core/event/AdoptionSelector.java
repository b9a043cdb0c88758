package io.lendstream.core.event;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Tells which processes, or other things that run already, a declared job or service claims. An actuator compares it
 * with what it finds on its nodes.
 *
 * @param patterns the pattern of each attribute, such as {@code command} of driver {@code process}; in a pattern
 *     {@code *} stands for any text. All of them must match; at least one
 */
public record AdoptionSelector(Map<String, String> patterns) {
    public AdoptionSelector {
        patterns = Collections.unmodifiableSortedMap(new TreeMap<>(patterns));
        if (patterns.isEmpty()) {
            throw new IllegalArgumentException(
                    "a selector must have at least 1 attribute, but has none: it would claim everything");
        }
        patterns.forEach((attribute, pattern) -> {
            if (pattern.chars().allMatch(each -> each == '*')) {
                throw new IllegalArgumentException(
                        "the pattern of attribute %s must have a character that is not *, but is '%s': it would claim everything"
                                .formatted(attribute, pattern));
            }
        });
    }

    /** For example {@code command=*train.py*, user=ml}. */
    public String inWords() {
        return patterns.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(", "));
    }
}

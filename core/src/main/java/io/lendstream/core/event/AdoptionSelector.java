package io.lendstream.core.event;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    /** What processes have, as a selector names it; and each variable of their environment. */
    public static final List<String> OF_PROCESSES = List.of("command", "user", "unit", "directory");

    /** What stands before the name of a variable. */
    public static final String VARIABLE = "environment.";

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

    /** Why it matches no process, with the way out; empty if it may match one. */
    public Optional<String> againstProcesses() {
        return patterns.keySet().stream()
                .filter(attribute -> !OF_PROCESSES.contains(attribute)
                        && (!attribute.startsWith(VARIABLE) || attribute.equals(VARIABLE)))
                .findFirst()
                .map(unknown -> "it names the attribute '%s', which processes do not have; they have %s, %sNAME"
                        .formatted(unknown, String.join(", ", OF_PROCESSES), VARIABLE));
    }

    /** For example {@code command=*train.py*, user=ml}. */
    public String inWords() {
        return patterns.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(", "));
    }
}

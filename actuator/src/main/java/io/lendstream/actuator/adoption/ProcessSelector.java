package io.lendstream.actuator.adoption;

import io.lendstream.core.event.AdoptionSelector;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The processes that a job or service claims: those of which all named attributes fit their patterns. */
final class ProcessSelector {
    private final Map<ProcessAttribute, Glob> attributes = new EnumMap<>(ProcessAttribute.class);
    private final Map<String, Glob> variables = new TreeMap<>();

    /** @param selector one of which {@link AdoptionSelector#againstProcesses} has found no fault */
    ProcessSelector(AdoptionSelector selector) {
        selector.patterns()
                .forEach((attribute, pattern) -> ProcessAttribute.named(attribute)
                        .ifPresentOrElse(
                                known -> attributes.put(known, new Glob(pattern)),
                                () -> variables.put(
                                        attribute.substring(AdoptionSelector.VARIABLE.length()), new Glob(pattern))));
    }

    /** Whether it claims a process. An attribute that this user may not read fits no pattern. */
    boolean claims(ProcessFacts facts) {
        return attributes.entrySet().stream().allMatch(each -> fits(facts.attribute(each.getKey()), each.getValue()))
                && variables.entrySet().stream().allMatch(each -> fits(facts.variable(each.getKey()), each.getValue()));
    }

    private static boolean fits(Optional<String> value, Glob pattern) {
        return value.filter(pattern::matches).isPresent();
    }
}

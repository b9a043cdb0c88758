package io.lendstream.actuator.adoption;

import io.lendstream.core.event.AdoptionSelector;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The processes that a job or service claims: those of which all named attributes fit their patterns. */
public final class ProcessSelector {
    private static final String ENVIRONMENT = "environment.";

    private final Map<ProcessAttribute, Glob> attributes = new EnumMap<>(ProcessAttribute.class);
    private final Map<String, Glob> variables = new TreeMap<>();

    /** @param selector one of which {@link #complaint} has found no fault */
    ProcessSelector(AdoptionSelector selector) {
        selector.patterns()
                .forEach((attribute, pattern) -> ProcessAttribute.named(attribute)
                        .ifPresentOrElse(
                                known -> attributes.put(known, new Glob(pattern)),
                                () -> variables.put(attribute.substring(ENVIRONMENT.length()), new Glob(pattern))));
    }

    /** Why a selector matches no process of this driver, with the way out; empty without a fault. */
    public static Optional<String> complaint(AdoptionSelector selector) {
        return selector.patterns().keySet().stream()
                .filter(attribute -> !isKnown(attribute))
                .findFirst()
                .map(unknown -> "it names the attribute '%s', which processes do not have; they have %s"
                        .formatted(unknown, known()));
    }

    private static boolean isKnown(String attribute) {
        boolean isVariable = attribute.startsWith(ENVIRONMENT) && attribute.length() > ENVIRONMENT.length();
        return isVariable || ProcessAttribute.named(attribute).isPresent();
    }

    private static String known() {
        return Arrays.stream(ProcessAttribute.values())
                        .map(ProcessAttribute::word)
                        .collect(Collectors.joining(", "))
                + ", " + ENVIRONMENT + "NAME";
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

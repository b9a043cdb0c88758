package io.lendstream.core.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The violations found so far, in their order; only the first few of each rule. */
final class Violations {
    private static final int MOST_PER_RULE = 20;

    private final List<Violation> found = new ArrayList<>();
    private final Map<String, Integer> counts = new HashMap<>();

    void add(Rule rule, String text) {
        add(rule.violation(text));
    }

    void add(Violation violation) {
        if (counts.merge(violation.rule(), 1, Integer::sum) <= MOST_PER_RULE) {
            found.add(violation);
        }
    }

    List<Violation> found() {
        return found;
    }
}

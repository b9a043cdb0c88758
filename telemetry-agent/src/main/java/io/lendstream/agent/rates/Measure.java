package io.lendstream.agent.rates;

import java.util.ArrayList;
import java.util.List;

/**
 * An expression of metrics for a number. It has sums and differences, {@code a + b - c}, and alternatives in case
 * these do not exist, {@code a | b}. The operators are surrounded by spaces.
 *
 * @param alternatives the first with existing metrics counts; empty if the number is not available
 */
record Measure(List<List<Term>> alternatives) {
    static final Measure NONE = new Measure(List.of());

    Measure {
        alternatives = List.copyOf(alternatives);
    }

    /** A metric with its sign: 1 to add, -1 to subtract. */
    record Term(int sign, Selector selector) {}

    static Measure parse(String text) {
        if (text.isBlank()) {
            return NONE;
        }
        var alternatives = new ArrayList<List<Term>>();
        for (String alternative : split(text, '|')) {
            var terms = new ArrayList<Term>();
            for (String added : split(alternative, '+')) {
                List<String> taken = split(added, '-');
                terms.add(new Term(1, Selector.parse(taken.get(0))));
                taken.stream().skip(1).forEach(part -> terms.add(new Term(-1, Selector.parse(part))));
            }
            alternatives.add(List.copyOf(terms));
        }
        return new Measure(alternatives);
    }

    /** Splits at an operator that is surrounded by spaces and not in quotes. */
    private static List<String> split(String text, char sign) {
        var parts = new ArrayList<String>();
        boolean quoted = false;
        int start = 0;
        for (int i = 0; i < text.length(); i++) {
            char at = text.charAt(i);
            quoted ^= at == '"';
            boolean alone = i > 0 && i + 1 < text.length() && text.charAt(i - 1) == ' ' && text.charAt(i + 1) == ' ';
            if (at == sign && !quoted && alone) {
                parts.add(text.substring(start, i));
                start = i + 1;
            }
        }
        parts.add(text.substring(start));
        return parts;
    }

    boolean isNone() {
        return alternatives.isEmpty();
    }

    /** The terms of the first alternative with metrics in a reading; empty without one. */
    List<Term> termsIn(EndpointReading reading) {
        return termsIn(reading, "");
    }

    /** The terms for metrics with an ending, such as a histogram's buckets. */
    List<Term> termsIn(EndpointReading reading, String suffix) {
        for (List<Term> alternative : alternatives) {
            List<Term> terms = alternative.stream()
                    .map(term -> new Term(term.sign, term.selector.suffixed(suffix)))
                    .toList();
            if (terms.stream().anyMatch(term -> !term.selector.in(reading).isEmpty())) {
                return terms;
            }
        }
        return List.of();
    }
}

package io.lendstream.agent.rates;

import java.util.ArrayList;
import java.util.List;

/**
 * What metrics say a number: sums and differences of them, {@code a + b - c}, and others to look at where the first are not there,
 * {@code a | b}. Blanks stand around the signs.
 *
 * @param alternatives the first of which anything is there counts; none where the number is not told
 */
record Measure(List<List<Term>> alternatives) {
    static final Measure NONE = new Measure(List.of());

    Measure {
        alternatives = List.copyOf(alternatives);
    }

    /** A metric that is added, by 1, or taken away, by -1. */
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

    /** The parts between a sign, which stands between blanks and not in quotes. */
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

    /** The terms that a reading has anything of; none where it has nothing of any alternative. */
    List<Term> termsIn(EndpointReading reading) {
        return termsIn(reading, "");
    }

    /** The same of metrics with an ending, such as a histogram's buckets. */
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

package io.lendstream.agent.rates;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Selects points of a metric, in Prometheus' syntax: {@code
 * name{label="text",other!="text",third=~"pattern",fourth!~"pattern"}}.
 *
 * @param name name of the metric
 * @param conditions conditions on its labels, all of which must hold
 */
record Selector(String name, List<Condition> conditions) {
    private static final Pattern SHAPE = Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)\\s*(?:\\{(.*)})?");
    private static final Pattern CONDITION =
            Pattern.compile("\\G\\s*([a-zA-Z_][a-zA-Z0-9_]*)\\s*(=~|!~|!=|=)\\s*\"([^\"]*)\"\\s*(?:,|$)");

    Selector {
        conditions = List.copyOf(conditions);
    }

    /**
     * A condition on a label; an absent label counts as empty.
     *
     * @param wanted whether the value must match; otherwise it must not
     */
    record Condition(String label, Pattern value, boolean wanted) {
        boolean holds(Point point) {
            return value.matcher(point.label(label)).matches() == wanted;
        }
    }

    static Selector parse(String text) {
        Matcher shape = SHAPE.matcher(text.strip());
        if (!shape.matches()) {
            throw new IllegalArgumentException(
                    "'%s' must be the name of a metric, with labels in braces if need be, such as requests_total{code=~\"2..\"}"
                            .formatted(text.strip()));
        }
        var conditions = new ArrayList<Condition>();
        if (shape.group(2) != null && !shape.group(2).isBlank()) {
            Matcher condition = CONDITION.matcher(shape.group(2));
            int end = 0;
            while (condition.find()) {
                conditions.add(condition(condition));
                end = condition.end();
            }
            if (end < shape.group(2).length()) {
                throw new IllegalArgumentException(
                        "the labels of '%s' must look like code=\"200\", with =, !=, =~ or !~, separated by commas"
                                .formatted(text.strip()));
            }
        }
        return new Selector(shape.group(1), conditions);
    }

    private static Condition condition(Matcher found) {
        String operator = found.group(2);
        String value = operator.endsWith("~") ? found.group(3) : Pattern.quote(found.group(3));
        try {
            return new Condition(found.group(1), Pattern.compile(value), operator.startsWith("="));
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(
                    "label %s has '%s', which is not a regular expression: %s"
                            .formatted(found.group(1), found.group(3), e.getDescription()),
                    e);
        }
    }

    /** The same selector for another metric, such as a histogram's buckets. */
    Selector suffixed(String suffix) {
        return new Selector(name + suffix, conditions);
    }

    List<Point> in(EndpointReading reading) {
        return reading.named(name).stream()
                .filter(point -> conditions.stream().allMatch(condition -> condition.holds(point)))
                .toList();
    }
}

package io.lendstream.simulator.workload;

import io.lendstream.core.event.Limits;
import io.lendstream.core.id.QueueId;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A line of a CSV file, numbered as editors number it; or an item of a YAML file.
 *
 * @param line that of its begin
 * @param fieldLines the line of each value of an item of YAML; empty for CSV
 */
public record CsvRow(Path file, List<String> columns, int line, List<String> values, List<Integer> fieldLines) {
    /** A line of a CSV file. */
    CsvRow(Path file, List<String> columns, int line, List<String> values) {
        this(file, columns, line, values, List.of());
    }

    /** The value of a column; empty where the line or the file has none. */
    public String text(String column) {
        int index = columns.indexOf(column);
        return index >= 0 && index < values.size() ? values.get(index).trim() : "";
    }

    public double number(String column, long atLeast) {
        String value = text(column);
        try {
            double number = Double.parseDouble(value);
            if (number >= atLeast && Double.isFinite(number)) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Falls through to the message that all bad values get.
        }
        throw bad(column, "a number of at least " + atLeast);
    }

    public double above(String column, long bound) {
        double number = number(column, bound);
        if (number > bound) {
            return number;
        }
        throw bad(column, "a number above " + bound);
    }

    public int whole(String column, int atLeast) {
        String value = text(column);
        try {
            double number = Double.parseDouble(value);
            if (number >= atLeast && number == Math.rint(number) && number <= Integer.MAX_VALUE) {
                return (int) number;
            }
        } catch (NumberFormatException e) {
            // Falls through to the message that all bad values get.
        }
        throw bad(column, "a whole number of at least " + atLeast);
    }

    /** The values between semicolons as {@code NAME:VALUE}, by name, in their order; none where the line has none. */
    Map<String, String> pairs(String column) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (String part : text(column).isEmpty() ? new String[0] : text(column).split(";", -1)) {
            int colon = part.lastIndexOf(':');
            String name = part.substring(0, Math.max(0, colon)).strip();
            if (name.isEmpty() || pairs.put(name, part.substring(colon + 1).strip()) != null) {
                throw bad(column, "NAME:VALUE between semicolons, each name once");
            }
        }
        return pairs;
    }

    /** The name of a queue; empty where the line has none. */
    Optional<QueueId> queue() {
        String name = text("queue");
        try {
            return name.isEmpty() ? Optional.empty() : Optional.of(new QueueId(Limits.name("queue", name)));
        } catch (IllegalArgumentException e) {
            throw bad("queue", "a name: " + e.getMessage());
        }
    }

    public IllegalArgumentException bad(String column, String expected) {
        int index = columns.indexOf(column);
        boolean isField = !fieldLines.isEmpty();
        return new IllegalArgumentException("%s, line %d, %s %s: found '%s', expected %s"
                .formatted(
                        file,
                        isField && index >= 0 ? fieldLines.get(index) : line,
                        isField ? "field" : "column",
                        column,
                        text(column),
                        expected));
    }
}

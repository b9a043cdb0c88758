package io.lendstream.launcher.declare;

import io.lendstream.core.event.Event;
import io.lendstream.launcher.declare.DeclaredKind.Column;
import io.lendstream.launcher.declare.DeclaredTopics.Written;
import io.lendstream.service.settings.Units;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** Objects of one kind as a table for people. */
final class ObjectTable {
    private static final String GAP = "   ";

    private ObjectTable() {}

    /**
     * A line of titles, and a line for each object. The column of states is left out if there is none.
     *
     * @param states the states, one for each object
     * @param wide whether to show all columns
     */
    static <T extends Event> List<String> lines(
            DeclaredKind<T> kind,
            Collection<Written<T>> objects,
            List<Optional<String>> states,
            boolean wide,
            Instant now) {
        List<Column<T>> columns = kind.columns().stream()
                .filter(column -> wide || !column.isWide())
                .toList();
        List<List<String>> rows = new ArrayList<>();
        boolean hasStates = states.stream().anyMatch(Optional::isPresent);
        List<String> titles = new ArrayList<>(List.of("NAME", "DOMAIN"));
        if (hasStates) {
            titles.add("STATE");
        }
        columns.forEach(column -> titles.add(column.title()));
        titles.add("AGE");
        if (wide) {
            titles.add("RECORD");
        }
        rows.add(titles);
        for (Written<T> object : objects) {
            T value = object.value();
            List<String> row =
                    new ArrayList<>(List.of(kind.nameOf(value), value.domain().value()));
            if (hasStates) {
                row.add(states.get(rows.size() - 1).orElse(""));
            }
            columns.forEach(column -> row.add(column.text().apply(value)));
            row.add(age(object.written(), now));
            if (wide) {
                row.add(object.origin().toString());
            }
            rows.add(row);
        }
        return aligned(rows);
    }

    /** The time since a record was written, in its largest unit. */
    private static String age(Instant written, Instant now) {
        Duration age = Duration.between(written, now);
        if (age.isNegative()) {
            return "0s";
        }
        ChronoUnit unit = age.toDays() > 1
                ? ChronoUnit.DAYS
                : age.toHours() > 1 ? ChronoUnit.HOURS : age.toMinutes() > 1 ? ChronoUnit.MINUTES : ChronoUnit.SECONDS;
        return Units.text(age.truncatedTo(unit));
    }

    private static List<String> aligned(List<List<String>> rows) {
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < row.size(); i++) {
                int column = i;
                int width = rows.stream()
                        .mapToInt(each -> each.get(column).length())
                        .max()
                        .orElse(0);
                String cell = row.get(i);
                line.append(cell).append(" ".repeat(width - cell.length())).append(GAP);
            }
            lines.add(line.toString().stripTrailing());
        }
        return lines;
    }
}

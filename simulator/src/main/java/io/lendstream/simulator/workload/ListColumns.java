package io.lendstream.simulator.workload;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The columns of a list of our own, which are also the fields of its section in YAML. A column that is not one of them
 * is refused, because it would be ignored otherwise.
 *
 * @param required the columns that each list has
 * @param optional the columns that a list may leave out
 */
record ListColumns(List<String> required, List<String> optional) {
    ListColumns {
        required = List.copyOf(required);
        optional = List.copyOf(optional);
    }

    /** The same with more columns that a list may leave out. */
    ListColumns and(List<String> others) {
        List<String> all = new ArrayList<>(optional);
        all.addAll(others);
        return new ListColumns(required, all);
    }

    boolean has(String name) {
        return required.contains(name) || optional.contains(name);
    }

    /** Whether a list with this header is one of this format. */
    boolean areIn(List<String> header) {
        return header.containsAll(required);
    }

    /** The names of all columns, the required ones first. */
    String inWords() {
        List<String> all = new ArrayList<>(required);
        all.addAll(optional);
        return String.join(", ", all);
    }

    /** The lines of a list. */
    List<CsvRow> read(Path file) {
        CsvTable table = CsvTable.read(file, required.toArray(String[]::new));
        Set<String> names = new HashSet<>();
        for (String name : table.columns()) {
            if (!has(name)) {
                throw new IllegalArgumentException(
                        "%s, line 1: unknown column '%s', expected %s".formatted(file, name, inWords()));
            }
            if (!names.add(name)) {
                throw new IllegalArgumentException(
                        "%s, line 1: column '%s' is there twice; leave one out".formatted(file, name));
            }
        }
        return table.rows();
    }
}

package io.lendstream.benchmarks.audit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A finding that is known and accepted, with the reason.
 *
 * @param id of the vulnerability, its own or an alias
 * @param name the package
 */
record Accepted(String id, String name, String reason) {

    /**
     * Reads a file with a finding a line: id, package, reason. Empty lines and those that begin with {@code #} are
     * left out.
     *
     * @throws IllegalArgumentException where a line has no reason; the message names it
     */
    static List<Accepted> read(Path file) throws IOException {
        var all = new ArrayList<Accepted>();
        int number = 0;
        for (String line : Files.readAllLines(file)) {
            number++;
            if (!line.isBlank() && !line.startsWith("#")) {
                String[] parts = line.strip().split("\\s+", 3);
                if (parts.length < 3) {
                    throw new IllegalArgumentException(
                            "%s, line %d, is '%s', but must be an id, a package and a reason, such as: CVE-2025-0001 io.netty:netty-codec not reachable, ..."
                                    .formatted(file, number, line));
                }
                all.add(new Accepted(parts[0], parts[1], parts[2]));
            }
        }
        return List.copyOf(all);
    }

    boolean covers(Advisory advisory, Component component) {
        return advisory.ids().contains(id) && component.name().equals(name);
    }
}

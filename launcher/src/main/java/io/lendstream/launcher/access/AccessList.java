package io.lendstream.launcher.access;

import io.lendstream.launcher.UserError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.common.acl.AclBinding;

/** What one principal may do: a file {@code USER.acl}, a grant a line; {@code #} begins a comment. */
record AccessList(String user, List<Grant> grants) {
    private static final String ENDING = ".acl";

    AccessList {
        grants = List.copyOf(grants);
    }

    /** Every list of a directory, by name. */
    static List<AccessList> readAll(Path directory, String prefix) {
        try (Stream<Path> entries = Files.list(directory)) {
            List<AccessList> lists = entries.filter(file -> file.toString().endsWith(ENDING))
                    .sorted()
                    .map(file -> read(file, prefix))
                    .toList();
            if (lists.isEmpty()) {
                throw UserError.badUsage("%s has no file that ends in %s; name a directory such as deploy/acl."
                        .formatted(directory, ENDING));
            }
            return lists;
        } catch (IOException e) {
            throw UserError.badUsage(
                    "%s cannot be read as a directory; name one such as deploy/acl.".formatted(directory));
        }
    }

    private static AccessList read(Path file, String prefix) {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (IOException e) {
            throw UserError.badUsage("%s cannot be read as text: %s.".formatted(file, e.getMessage()));
        }
        var grants = new ArrayList<Grant>();
        for (int number = 1; number <= lines.size(); number++) {
            String line = lines.get(number - 1).strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            try {
                grants.add(Grant.parse(line, prefix));
            } catch (IllegalArgumentException e) {
                throw UserError.badUsage("%s, line %d: %s.".formatted(file, number, e.getMessage()));
            }
        }
        String name = file.getFileName().toString();
        return new AccessList(name.substring(0, name.length() - ENDING.length()), grants);
    }

    List<AclBinding> bindings() {
        return grants.stream().flatMap(grant -> grant.bindings(user).stream()).toList();
    }
}

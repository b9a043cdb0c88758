package io.lendstream.launcher.access;

import io.lendstream.launcher.cli.UserError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.kafka.common.acl.AclBinding;

/**
 * The rights of one principal: a file {@code USER.acl} with a grant on each line; {@code #} begins a comment. A file
 * with <code>{name}</code> in its name is a template for one principal of each intake.
 */
record AccessList(String user, List<Grant> grants) {
    private static final String ENDING = ".acl";
    private static final String NAME = "{name}";

    AccessList {
        grants = List.copyOf(grants);
    }

    /**
     * All lists of a directory, by name.
     *
     * @param intakes the names for <code>{name}</code> in templates
     */
    static List<AccessList> readAll(Path directory, String prefix, List<String> intakes) {
        try (Stream<Path> entries = Files.list(directory)) {
            List<AccessList> lists = entries.filter(file -> file.toString().endsWith(ENDING))
                    .sorted()
                    .flatMap(file -> read(file, prefix, intakes))
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

    private static Stream<AccessList> read(Path file, String prefix, List<String> intakes) {
        if (!user(file).contains(NAME)) {
            return Stream.of(read(file, prefix, Optional.empty()));
        }
        if (intakes.isEmpty()) {
            throw UserError.badUsage(
                    "%s is a template for each intake, but there are no intakes; name them with --name, or in the setting intakes."
                            .formatted(file));
        }
        return intakes.stream().map(intake -> read(file, prefix, Optional.of(intake)));
    }

    private static String user(Path file) {
        String name = file.getFileName().toString();
        return name.substring(0, name.length() - ENDING.length());
    }

    private static AccessList read(Path file, String prefix, Optional<String> intake) {
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
                grants.add(
                        Grant.parse(intake.map(name -> line.replace(NAME, name)).orElse(line), prefix));
            } catch (IllegalArgumentException e) {
                throw UserError.badUsage("%s, line %d: %s.".formatted(file, number, e.getMessage()));
            }
        }
        return new AccessList(intake.map(name -> user(file).replace(NAME, name)).orElse(user(file)), grants);
    }

    List<AclBinding> bindings() {
        return grants.stream().flatMap(grant -> grant.bindings(user).stream()).toList();
    }
}

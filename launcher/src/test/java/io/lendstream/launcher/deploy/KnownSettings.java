package io.lendstream.launcher.deploy;

import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Key;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The settings of services that are not on the class path here. They are those of docs/configuration.md, to which each service's own
 * tests hold it.
 */
final class KnownSettings {
    private static final Path PAGE = Path.of("../docs/configuration.md");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\|");

    private KnownSettings() {}

    /** Those of a service, and those that every service has. */
    static Collection<Key<?>> of(String service) throws IOException {
        String page = Files.readString(PAGE);
        int start = page.indexOf("\n## %s\n".formatted(service));
        if (start < 0) {
            throw new IllegalArgumentException("%s has no section on %s".formatted(PAGE, service));
        }
        int end = page.indexOf("\n## ", start + 1);
        List<Key<?>> keys = new ArrayList<>(CommonKeys.ALL);
        ROW.matcher(page.substring(start, end < 0 ? page.length() : end))
                .results()
                .forEach(row -> keys.add(Key.text(row.group(1), "", "A setting.")));
        return keys;
    }
}

package io.lendstream.service.fake;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.ReferencePage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The sections of docs/configuration.md, one for each service: they must be as the settings describe themselves. With
 * {@code -Ddocs.update=true}, as {@code ./dev docs} has it, it rewrites them instead.
 */
public final class ConfigurationPage {
    private static final Path PAGE = Path.of("../docs/configuration.md");

    private ConfigurationPage() {}

    /** Checks the section of one service. */
    public static void mustDescribe(String service, List<Key<?>> keys) {
        mustHave(service, "Settings of `lendstream %s`.".formatted(service), keys);
    }

    /** Checks a section. */
    public static void mustHave(String title, String introduction, List<Key<?>> keys) {
        String section = ReferencePage.section(title, introduction, keys);
        try {
            String page = Files.readString(PAGE);
            if (Boolean.getBoolean("docs.update") && !page.contains(section)) {
                Files.writeString(PAGE, with(page, title, section));
            } else {
                assertThat(page)
                        .as("docs/configuration.md; './dev docs' writes what belongs there")
                        .contains(section);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be read or written".formatted(PAGE), e);
        }
    }

    /** The page with this section in place of the one of the same title, or at its end. */
    private static String with(String page, String title, String section) {
        int start = page.indexOf("## %s\n".formatted(title));
        if (start < 0) {
            return page.stripTrailing() + "\n\n" + section;
        }
        int end = page.indexOf("\n## ", start);
        return page.substring(0, start) + section + (end < 0 ? "" : page.substring(end));
    }
}

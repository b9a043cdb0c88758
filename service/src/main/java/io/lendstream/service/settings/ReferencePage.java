package io.lendstream.service.settings;

import java.util.Collection;
import java.util.Comparator;

/** Writes settings as a table of a reference page. */
public final class ReferencePage {
    private ReferencePage() {}

    /** A section in Markdown with one line a setting. */
    public static String section(String title, String introduction, Collection<Key<?>> keys) {
        var page = new StringBuilder("## %s\n\n%s\n\n".formatted(title, introduction));
        page.append("| setting | environment | takes | default | description |\n|---|---|---|---|---|\n");
        keys.stream()
                .sorted(Comparator.comparing(Key::name))
                .forEach(key -> page.append("| `%s` | `%s` | %s | %s | %s |\n"
                        .formatted(
                                key.name(),
                                key.variable(),
                                cell(key.takes()),
                                key.otherwise().isEmpty() ? "" : "`" + cell(key.otherwise()) + "`",
                                cell(key.description()))));
        return page.toString();
    }

    private static String cell(String text) {
        return text.replace("|", "\\|");
    }
}

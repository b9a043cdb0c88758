package io.lendstream.service.settings;

import java.util.Collection;
import java.util.Comparator;

/** Writes settings as a table of a reference page. */
public final class ReferencePage {
    private ReferencePage() {}

    /** A section in Markdown with one line a setting. */
    public static String section(String title, String introduction, Collection<Key<?>> keys) {
        var page = new StringBuilder("## %s\n\n%s\n\n".formatted(title, introduction));
        page.append("| setting | environment | takes | default | meaning |\n|---|---|---|---|---|\n");
        keys.stream()
                .sorted(Comparator.comparing(Key::name))
                .forEach(key -> page.append("| `%s` | `%s` | %s | %s | %s |\n"
                        .formatted(
                                key.name(),
                                key.variable(),
                                cell(shortened(key.takes())),
                                key.otherwise().isEmpty() ? "" : "`" + cell(key.otherwise()) + "`",
                                cell(key.description()))));
        return page.toString();
    }

    /** The kind of value without its rules, which the page explains once and error messages repeat. */
    private static String shortened(String takes) {
        return takes.replaceFirst("(,? such as |: |, each of ).*", "").replaceFirst("^an? ", "");
    }

    private static String cell(String text) {
        return text.replace("|", "\\|");
    }
}

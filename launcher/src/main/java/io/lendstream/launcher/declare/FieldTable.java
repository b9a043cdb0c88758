package io.lendstream.launcher.declare;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The reference tables of all fields, for the manual. */
final class FieldTable {
    private FieldTable() {}

    /** A section for the fields of all kinds and one for each kind, with a table for each group of fields. */
    static String markdown() {
        StringBuilder page = new StringBuilder("\n## Metadata\n\nThe same for all kinds.\n");
        page.append(table("metadata", ObjectReader.METADATA_FIELDS));
        DeclaredKinds.ALL.forEach(kind -> {
            page.append("\n## %s\n\n%s Record: [%s](topics.md#%s).\n"
                    .formatted(
                            kind.name(),
                            kind.doc(),
                            kind.topic().recordName(),
                            kind.topic().recordName().toLowerCase(Locale.ROOT)));
            Map<String, SpecFields<?>> groups = new LinkedHashMap<>();
            collect("spec", kind.spec(), groups);
            groups.forEach((path, group) -> page.append(table(path, group)));
        });
        return page.toString();
    }

    /** The groups of fields below a group, by their path; each group follows the one that has it. */
    private static void collect(String path, SpecFields<?> group, Map<String, SpecFields<?>> groups) {
        groups.put(path, group);
        group.fields()
                .forEach(field -> nested(field.form())
                        .ifPresent(below -> collect(
                                path + "." + field.name() + (field.form() instanceof ListForm<?> ? "[]" : ""),
                                below,
                                groups)));
    }

    private static Optional<SpecFields<?>> nested(ValueForm<?> form) {
        if (form instanceof ListForm<?> list) {
            return nested(list.item());
        }
        return form instanceof SpecFields.GroupForm<?> group ? Optional.of(group.group()) : Optional.empty();
    }

    private static String table(String path, SpecFields<?> group) {
        List<String> lines = new ArrayList<>(
                List.of("", "`%s`:".formatted(path), "", "| field | value | default | content |", "|---|---|---|---|"));
        for (SpecField<?, ?> field : group.fields()) {
            String usual = field.shownDefault();
            lines.add("| `%s` | %s | %s | %s |"
                    .formatted(
                            field.name(),
                            value(field.form()),
                            field.isMandatory() ? "mandatory" : usual.isEmpty() ? "" : "`" + usual + "`",
                            field.doc()));
        }
        return String.join("\n", lines) + "\n";
    }

    private static String value(ValueForm<?> form) {
        if (nested(form).isPresent()) {
            return form instanceof ListForm<?> ? "a list, see below" : "see below";
        }
        return form.takes();
    }
}

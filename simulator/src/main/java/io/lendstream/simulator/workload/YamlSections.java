package io.lendstream.simulator.workload;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads the sections of a workload in YAML: items of fields, which the readers of lists take as rows. A list of values
 * becomes one between semicolons, and pairs become {@code KEY:VALUE} between semicolons, as lists have them.
 */
final class YamlSections {
    private static final YAMLFactory YAML = YAMLFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private final Path file;
    private final YAMLParser parser;
    private final Map<String, List<CsvRow>> rows = new LinkedHashMap<>();

    /**
     * The fields of a section.
     *
     * @param isOne whether the section is one item, not a list of items
     * @param lists the fields that are lists of items themselves, with the fields of these
     * @param pairsOfLists the fields with pairs of a name and a list of values, which become one between spaces
     */
    record SectionFields(ListColumns names, boolean isOne, Map<String, SectionFields> lists, Set<String> pairsOfLists) {
        /** A list of items. */
        SectionFields(ListColumns names) {
            this(names, Set.of());
        }

        /** A list of items, some of whose fields have pairs with lists. */
        SectionFields(ListColumns names, Set<String> pairsOfLists) {
            this(names, false, Map.of(), pairsOfLists);
        }
    }

    private YamlSections(Path file, YAMLParser parser) {
        this.file = file;
        this.parser = parser;
    }

    /** Whether the name of a file says that it is YAML. */
    static boolean isYaml(Path file) {
        String name = file.toString();
        String plain = name.endsWith(".gz") ? name.substring(0, name.length() - 3) : name;
        return plain.endsWith(".yaml") || plain.endsWith(".yml");
    }

    /**
     * The items of each section that a file has, and of each list in a section by the name of its field.
     *
     * @param sections the known sections
     */
    static Map<String, List<CsvRow>> read(Path file, Map<String, SectionFields> sections) {
        try (BufferedReader in = CsvTable.open(file);
                YAMLParser parser = YAML.createParser(in)) {
            YamlSections reader = new YamlSections(file, parser);
            reader.document(sections);
            return reader.rows;
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(
                    "%s, line %d is not YAML: %s"
                            .formatted(
                                    file,
                                    Optional.ofNullable(e.getLocation())
                                            .map(location -> location.getLineNr())
                                            .orElse(1),
                                    String.valueOf(e.getOriginalMessage())
                                            .lines()
                                            .findFirst()
                                            .orElse("")),
                    e);
        } catch (IOException e) {
            throw CsvTable.unreadable(file, e);
        }
    }

    private void document(Map<String, SectionFields> sections) throws IOException {
        String names = String.join(", ", sections.keySet());
        if (parser.nextToken() == null) {
            throw new IllegalArgumentException("%s is empty; expected sections: %s".formatted(file, names));
        }
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw bad("found no section, expected " + names);
        }
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String section = parser.currentName();
            SectionFields fields = sections.get(section);
            if (fields == null) {
                throw bad("unknown section '%s', expected %s".formatted(section, names));
            }
            parser.nextToken();
            rows.put(section, items(section, fields));
        }
        if (parser.nextToken() != null) {
            throw bad("a second document, expected one");
        }
    }

    private List<CsvRow> items(String section, SectionFields fields) throws IOException {
        boolean isEmpty = parser.currentToken() == JsonToken.VALUE_NULL
                || (parser.currentToken() == JsonToken.VALUE_STRING
                        && parser.getText().isBlank());
        if (isEmpty) {
            return List.of();
        }
        if (fields.isOne) {
            return List.of(item(section, fields));
        }
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw bad("section %s has no list of items, expected '- %s: ...' for each"
                    .formatted(section, fields.names.required().get(0)));
        }
        List<CsvRow> items = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            items.add(item(section, fields));
        }
        return items;
    }

    private CsvRow item(String section, SectionFields fields) throws IOException {
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw bad("an item of section %s has no fields, expected %s".formatted(section, fields.names.inWords()));
        }
        int line = line();
        List<String> names = new ArrayList<>();
        List<String> values = new ArrayList<>();
        List<Integer> lines = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            if (!fields.names.has(name)) {
                throw bad("unknown field '%s' in section %s, expected %s"
                        .formatted(name, section, fields.names.inWords()));
            }
            names.add(name);
            lines.add(line());
            parser.nextToken();
            SectionFields list = fields.lists.get(name);
            if (list != null) {
                rows.put(name, items(name, list));
            }
            values.add(list == null ? value(name, fields.pairsOfLists.contains(name)) : "");
        }
        for (String required : fields.names.required()) {
            if (!names.contains(required)) {
                throw new IllegalArgumentException(
                        "%s, line %d: no field '%s' in an item of section %s".formatted(file, line, required, section));
            }
        }
        return new CsvRow(file, names, line, values, lines);
    }

    /**
     * A value as a list has it in a column.
     *
     * @param hasLists whether its pairs may have lists
     */
    private String value(String field, boolean hasLists) throws IOException {
        List<String> parts = new ArrayList<>();
        if (parser.currentToken() == JsonToken.START_ARRAY) {
            return list(field, ";");
        }
        if (parser.currentToken() == JsonToken.START_OBJECT) {
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                String key = parser.currentName();
                parser.nextToken();
                boolean isList = hasLists && parser.currentToken() == JsonToken.START_ARRAY;
                parts.add(key + ":" + (isList ? list(field, " ") : scalar(field)));
            }
            return String.join(";", parts);
        }
        return parser.currentToken() == JsonToken.VALUE_NULL ? "" : scalar(field);
    }

    private String list(String field, String between) throws IOException {
        List<String> parts = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            parts.add(scalar(field));
        }
        return String.join(between, parts);
    }

    private String scalar(String field) throws IOException {
        if (parser.isCurrentAlias()) {
            throw bad("field %s is the alias '*%s', expected a value: aliases are not read"
                    .formatted(field, parser.getText()));
        }
        JsonToken token = parser.currentToken();
        if (token == null || !token.isScalarValue()) {
            throw bad("field %s is nested too deep, expected a value, a list of values, or KEY: VALUE pairs"
                    .formatted(field));
        }
        return parser.getText();
    }

    private int line() {
        return parser.currentTokenLocation().getLineNr();
    }

    private IllegalArgumentException bad(String what) {
        return new IllegalArgumentException("%s, line %d: %s".formatted(file, line(), what));
    }
}

package io.lendstream.schemas.topics;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Limits;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.avro.JsonProperties;
import org.apache.avro.Schema;

/** The page about our topics: a part written by hand, and the reference of topics and records. */
final class TopicsPage {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final TopicCatalogue CATALOGUE = TopicCatalogue.standard();

    /** The end of the part that is written by hand. */
    private static final String MARKER =
            "<!-- The part below is made from TopicCatalogue and schemas/src/main/avro by TopicsDocsTest; ./dev docs writes it. -->";

    /** Defaults that the page does not name for each field. */
    private static final Set<String> USUAL_DEFAULTS =
            Set.of("null", "[]", "{}", "\"\"", "0", "0.0", "false", "\"UNKNOWN\"");

    private final StringBuilder page = new StringBuilder();

    static String text() {
        return new TopicsPage().written();
    }

    private String written() {
        page.append(handWritten()).append(MARKER).append("\n\n");
        topics();
        Map<String, Schema> own = new LinkedHashMap<>();
        for (Topic<?> topic : TopicCatalogue.ALL) {
            own.put(topic.recordName(), WireSchemas.of(topic.recordName()));
        }
        bounds();
        page.append("""
                ## Records

                Fields in **bold** are required. An optional field is null by default; all others are empty, 0, false or `UNKNOWN`,
                unless the table names another default.

                """);
        own.values().forEach(this::record);
        page.append("## Parts of records\n\n");
        partsOf(own).values().forEach(this::record);
        return page.toString().stripTrailing() + "\n";
    }

    /** The page up to the marker. */
    private static String handWritten() {
        Path file = Path.of("..", "docs", "topics.md");
        try {
            String text = Files.readString(file);
            int end = text.indexOf(MARKER);
            if (end < 0) {
                throw new IllegalStateException("%s must have the line %s".formatted(file, MARKER));
            }
            return text.substring(0, end);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void topics() {
        page.append("""
                ## All topics

                `lendstream topics create` creates them.

                | topic | access | key | cleanup | kept | record | content |
                |---|---|---|---|---|---|---|
                """);
        for (Topic<?> topic : TopicCatalogue.ALL) {
            page.append("| `%s` | %s | %s | %s | %s | %s | %s |\n"
                    .formatted(
                            CATALOGUE.name(topic),
                            topic.role() == Topic.Role.INTAKE ? "write" : "read",
                            topic.key(),
                            topic.cleanup().policy().replace(",", ", "),
                            topic.retention().map(TopicsPage::length).orElse("the newest of each key"),
                            link(topic.recordName()),
                            topic.content()));
        }
        page.append('\n');
    }

    private void bounds() {
        page.append("""
                ## Bounds

                Records with a value out of bounds are refused:

                - keys and IDs: 1 to %d printable ASCII characters without blanks, quotes and backslashes
                - lists and maps: at most %,d entries
                - times: from %s to %s
                - durations: at most %d days; %d h for a warm-up, a rescale or a forecast's step; %d h for a window of rates
                - requests: at most %,d
                - GPUs, nodes and replicas: at most %,d

                Texts are cut after %,d characters.

                A dead letter is the refused record with the headers `lendstream.origin.topic`, `.partition`, `.offset`, `.timestamp` and `lendstream.error.class`,
                `.message`, `.service`. If it is too large, `lendstream-cut-from` (bytes of the original value), `lendstream-key-cut-from` and
                `lendstream-headers-left-out` name the missing parts.

                """.formatted(
                Limits.LONGEST_NAME,
                Limits.MOST_ENTRIES,
                day(Limits.EARLIEST),
                day(Limits.LATEST),
                Duration.ofMillis(Limits.lengths(TrainingJob.class, "any").most())
                        .toDays(),
                Duration.ofMillis(
                                Limits.lengths(InferenceService.class, "warmUp").most())
                        .toHours(),
                Limits.LONGEST_WINDOW.toHours(),
                Limits.wholes(RequestRate.class, "arrivals", long.class).most(),
                Limits.wholes(TrainingJob.class, "maxGpus", int.class).most(),
                Limits.LONGEST_TEXT));
    }

    private static String day(Instant time) {
        return LocalDate.ofInstant(time, ZoneOffset.UTC).toString();
    }

    private static String length(Duration kept) {
        return kept.toDays() == 1 ? "1 day" : kept.toDays() + " days";
    }

    /** Every named type that the records refer to, by name. */
    private static Map<String, Schema> partsOf(Map<String, Schema> records) {
        Map<String, Schema> parts = new TreeMap<>();
        Deque<Schema> open = new ArrayDeque<>(records.values());
        while (!open.isEmpty()) {
            Schema schema = open.pop();
            boolean named = schema.getType() == Schema.Type.RECORD || schema.getType() == Schema.Type.ENUM;
            if (named && !records.containsKey(schema.getName()) && parts.put(schema.getName(), schema) != null) {
                continue;
            }
            switch (schema.getType()) {
                case RECORD -> schema.getFields().forEach(field -> referred(field.schema(), records, open));
                case UNION -> schema.getTypes().forEach(type -> referred(type, records, open));
                case ARRAY -> referred(schema.getElementType(), records, open);
                case MAP -> referred(schema.getValueType(), records, open);
                default -> {
                    // Refers to nothing.
                }
            }
        }
        return parts;
    }

    private static void referred(Schema schema, Map<String, Schema> records, Deque<Schema> open) {
        if (schema.getType() != Schema.Type.RECORD || !records.containsKey(schema.getName())) {
            open.push(schema);
        }
    }

    private void record(Schema schema) {
        page.append("### %s\n\n%s\n\n".formatted(schema.getName(), schema.getDoc()));
        if (schema.getType() == Schema.Type.ENUM) {
            List<String> symbols = schema.getEnumSymbols().stream()
                    .map(symbol -> "`" + symbol + "`")
                    .toList();
            page.append("One of %s.\n\n".formatted(String.join(", ", symbols)));
            return;
        }
        List<Schema.Field> fields = schema.getFields();
        if (isChoice(fields)) {
            page.append("`kind` (%s) names the one field that is set: %s.\n\n"
                    .formatted(
                            type(fields.get(0).schema()),
                            fields.stream()
                                    .skip(1)
                                    .map(field -> "`%s` (%s)"
                                            .formatted(
                                                    field.name(),
                                                    type(field.schema()
                                                            .getTypes()
                                                            .get(1))))
                                    .collect(Collectors.joining(", "))));
            return;
        }
        if (fields.size() == 1) {
            Schema.Field only = fields.get(0);
            page.append("%s (%s): %s\n\n".formatted(name(only), typeAndDefault(only), only.doc()));
            return;
        }
        page.append("| field | type | meaning |\n|---|---|---|\n");
        for (Schema.Field field : fields) {
            page.append("| %s | %s | %s |\n"
                    .formatted(name(field), typeAndDefault(field), field.doc().replace("|", "\\|")));
        }
        page.append('\n');
    }

    /** Whether the field {@code kind} says which one of the others is set. */
    private static boolean isChoice(List<Schema.Field> fields) {
        return fields.size() > 1
                && fields.get(0).name().equals("kind")
                && fields.stream().skip(1).allMatch(field -> field.doc().startsWith("Set for "));
    }

    /** In bold if the field is required. */
    private static String name(Schema.Field field) {
        return field.hasDefaultValue() ? "`" + field.name() + "`" : "**`" + field.name() + "`**";
    }

    private static String typeAndDefault(Schema.Field field) {
        if (!field.hasDefaultValue()) {
            return type(field.schema());
        }
        Object value = field.defaultVal();
        String text = value == JsonProperties.NULL_VALUE
                ? "null"
                : JSON.valueToTree(value).toString();
        return USUAL_DEFAULTS.contains(text)
                ? type(field.schema())
                : "%s, default `%s`".formatted(type(field.schema()), text);
    }

    private static String type(Schema schema) {
        return switch (schema.getType()) {
            case RECORD, ENUM -> link(schema.getName());
            case UNION -> "optional " + type(schema.getTypes().get(1));
            case ARRAY -> "list of " + type(schema.getElementType());
            case MAP -> "map of text to " + type(schema.getValueType());
            default ->
                schema.getLogicalType() == null
                        ? schema.getType().getName()
                        : schema.getLogicalType().getName();
        };
    }

    private static String link(String record) {
        return "[%s](#%s)".formatted(record, record.toLowerCase(Locale.ROOT));
    }
}

package io.lendstream.schemas.topics;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Limits;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
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
import java.util.TreeMap;
import org.apache.avro.JsonProperties;
import org.apache.avro.Schema;

/** The reference page of our topics and of every record in them. */
final class TopicsPage {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final TopicCatalogue CATALOGUE = TopicCatalogue.standard();

    private final StringBuilder page = new StringBuilder();

    static String text() {
        return new TopicsPage().written();
    }

    private String written() {
        page.append("""
                # Topics

                <!-- Made from TopicCatalogue and schemas/src/main/avro by TopicsDocsTest; ./dev docs writes it anew. -->

                Topics are Lendstream's only interface: whoever wants to integrate reads or writes one. The same as a machine reads it is
                [`asyncapi.yaml`](asyncapi.yaml).

                - **Names** start with `%s`; a site may choose another prefix (`topic-prefix`).
                - **Values** are Avro in Confluent's wire format (a zero byte, four bytes of schema id, Avro's binary encoding) under the subject
                  `<topic>-value`, compatible `FULL_TRANSITIVE`: every version reads every other.
                - **Keys** are text in UTF-8.
                - **Headers** are CloudEvents 1.0 in binary mode: `ce_specversion`, `ce_id`, `ce_source`, `ce_type` (`%s.<Record>`), `ce_time`,
                  `content-type`. Nothing of ours depends on them.
                - **Times** are milliseconds since 1970 in UTC, of the event and not of the broker; Kafka's own timestamp only decides when a
                  record is deleted (`message.timestamp.type=LogAppendTime`).
                - **Bounds** of what others write: keys and IDs have 1 to %d printable ASCII characters without blanks, quotes and backslashes; lists
                  and maps have at most %,d entries; times are from %s to %s; lengths of time are at most %d days, and at most %d h for a warm-up, a
                  rescale or a forecast's step, %d h for a window of rates; requests are at most %,d, GPUs, nodes and replicas at most %,d. What is
                  beyond a bound is refused. Texts of more than %,d characters are cut.
                - **Dead letters:** a record that was refused goes to `<topic>-dlq` (one partition, %s), with `lendstream.origin.topic`, `.partition`,
                  `.offset`, `.timestamp` and `lendstream.error.class`, `.message`, `.service` as headers. It is as it was, unless it does not fit:
                  `lendstream-cut-from` (bytes of the value before), `lendstream-key-cut-from` and `lendstream-headers-left-out` tell what is missing.
                  Letters about a record of an intake's topic (`<topic>.<intake>`) are in the same `<topic>-dlq`.

                `lendstream topics create` makes them all.

                """.formatted(
                TopicCatalogue.DEFAULT_PREFIX,
                WireSchemas.NAMESPACE,
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
                Limits.LONGEST_TEXT,
                length(TopicCatalogue.DEAD_LETTER_RETENTION)));
        topics();
        Map<String, Schema> own = new LinkedHashMap<>();
        for (Topic<?> topic : TopicCatalogue.ALL) {
            own.put(topic.recordName(), WireSchemas.of(topic.recordName()));
        }
        page.append("## Records\n\n");
        own.values().forEach(this::record);
        page.append("## Parts of records\n\n");
        partsOf(own).values().forEach(this::record);
        return page.toString().stripTrailing() + "\n";
    }

    private void topics() {
        page.append("| topic | role | key | cleanup | kept | record | what it says |\n|---|---|---|---|---|---|---|\n");
        for (Topic<?> topic : TopicCatalogue.ALL) {
            page.append("| `%s` | %s | %s | %s | %s | %s | %s |\n"
                    .formatted(
                            CATALOGUE.name(topic),
                            topic.role(),
                            topic.key(),
                            topic.cleanup().policy().replace(",", ", "),
                            topic.retention().map(TopicsPage::length).orElse("the newest of each key"),
                            link(topic.recordName()),
                            topic.content()));
        }
        page.append('\n');
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
        page.append("| field | type | default | what it is |\n|---|---|---|---|\n");
        for (Schema.Field field : schema.getFields()) {
            page.append("| `%s` | %s | %s | %s |\n"
                    .formatted(
                            field.name(),
                            type(field.schema()),
                            otherwise(field),
                            field.doc().replace("|", "\\|")));
        }
        page.append('\n');
    }

    private static String type(Schema schema) {
        return switch (schema.getType()) {
            case RECORD, ENUM -> link(schema.getName());
            case UNION -> type(schema.getTypes().get(1)) + " or null";
            case ARRAY -> "list of " + type(schema.getElementType());
            case MAP -> "map of text to " + type(schema.getValueType());
            default ->
                schema.getLogicalType() == null
                        ? schema.getType().getName()
                        : schema.getLogicalType().getName();
        };
    }

    private static String otherwise(Schema.Field field) {
        if (!field.hasDefaultValue()) {
            return "";
        }
        Object value = field.defaultVal();
        return "`%s`".formatted(value == JsonProperties.NULL_VALUE ? "null" : JSON.valueToTree(value));
    }

    private static String link(String record) {
        return "[%s](#%s)".formatted(record, record.toLowerCase(Locale.ROOT));
    }
}

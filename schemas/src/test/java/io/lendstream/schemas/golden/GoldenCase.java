package io.lendstream.schemas.golden;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.id.DomainId;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;

/**
 * A folder with the events of a domain's log, one a line, and the decisions made of them, one a line.
 *
 * @param folder named by a sentence that says what the scheduler does
 */
record GoldenCase(Path folder) {
    private static final Path CASES = Path.of("src/test/resources/decisions");
    private static final ObjectMapper JSON = new ObjectMapper();

    /** A few digits say all; the last ones may differ between processors. */
    private static final MathContext SIX_DIGITS = new MathContext(6);

    static List<GoldenCase> all() {
        try (Stream<Path> folders = Files.list(CASES)) {
            return folders.filter(Files::isDirectory)
                    .sorted()
                    .map(GoldenCase::new)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static GoldenCase named(String sentence) {
        return new GoldenCase(CASES.resolve(sentence.replace(' ', '-')));
    }

    String sentence() {
        return folder.getFileName().toString().replace('-', ' ');
    }

    Path input() {
        return folder.resolve("input.jsonl");
    }

    Path decisions() {
        return folder.resolve("decision.jsonl");
    }

    /** The log; line 1 is event 1. */
    List<DomainEvent> events() {
        List<DomainEvent> events = new ArrayList<>();
        Map<String, JsonNode> around = new TreeMap<>();
        for (String line : lines(input())) {
            try {
                events.add(event(line, events, around));
            } catch (JsonProcessingException | RuntimeException e) {
                throw new IllegalArgumentException(
                        "%s, line %d: %s".formatted(input(), events.size() + 1, e.getMessage()), e);
            }
        }
        return events;
    }

    private static DomainEvent event(String line, List<DomainEvent> before, Map<String, JsonNode> around)
            throws JsonProcessingException {
        ObjectNode json = (ObjectNode) JSON.readTree(line);
        json.remove("note");
        for (String name : List.of("domain", "at")) {
            JsonNode said = json.remove(name);
            if (said != null) {
                around.put(name, said);
            }
        }
        Schema events = Codecs.schema(TopicCatalogue.DOMAIN_EVENTS);
        ObjectNode wrapped = JSON.createObjectNode();
        wrapped.put(
                "epoch", before.isEmpty() ? 0 : before.get(before.size() - 1).epoch());
        wrapped.put("sequence", before.size() + 1L);
        wrapped.set("event", json);
        GenericRecord record = PlainJson.read(events, wrapped, around);
        DomainEvent event = Codecs.decode(TopicCatalogue.DOMAIN_EVENTS, record);
        if (!event.at().equals(event.event().at())) {
            throw new IllegalArgumentException("the line is at %s, but its event at %s"
                    .formatted(event.at(), event.event().at()));
        }
        if (event.event() instanceof io.lendstream.core.event.SchedulerStarted started) {
            return new DomainEvent(
                    event.domain(), started.epoch(), event.sequence(), event.at(), event.origin(), event.event());
        }
        return event;
    }

    /**
     * Writes a log.
     *
     * @param notes what to say of events, by their sequence
     */
    void writeEvents(List<DomainEvent> log, Map<Long, String> notes) {
        List<String> lines = new ArrayList<>();
        for (DomainEvent event : log) {
            GenericRecord record = Codecs.encode(TopicCatalogue.DOMAIN_EVENTS, event);
            Map<String, JsonNode> around = new TreeMap<>();
            around.put("domain", JSON.getNodeFactory().textNode(event.domain().value()));
            around.put("at", JSON.getNodeFactory().textNode(event.at().toString()));
            ObjectNode line = JSON.createObjectNode();
            if (lines.isEmpty()) {
                line.set("domain", around.get("domain"));
            }
            line.set("at", around.get("at"));
            if (notes.containsKey(event.sequence())) {
                line.put("note", notes.get(event.sequence()));
            }
            line.setAll(PlainJson.write((GenericRecord) record.get("event"), around));
            lines.add(text(line));
        }
        write(input(), lines);
    }

    /** A decision as a line: after which event, and what, before why. */
    static String line(DomainEvent event, Decision decision) {
        DomainId domain = event.domain();
        GenericRecord record = Codecs.encode(TopicCatalogue.DECISIONS, decision);
        ObjectNode plain =
                PlainJson.write(record, Map.of("domain", JSON.getNodeFactory().textNode(domain.value())));
        ObjectNode line = JSON.createObjectNode();
        line.put("event", event.sequence());
        JsonNode action = plain.remove("action");
        JsonNode reason = plain.remove("reason");
        line.setAll(plain);
        line.setAll((ObjectNode) action);
        line.set("reason", reason);
        return text((ObjectNode) rounded(line));
    }

    private static JsonNode rounded(JsonNode json) {
        if (json.isDouble()) {
            double value = json.asDouble();
            return JSON.getNodeFactory()
                    .numberNode(
                            value == Math.rint(value) && Math.abs(value) < 1e9
                                    ? BigDecimal.valueOf((long) value)
                                    : new BigDecimal(new BigDecimal(value)
                                            .round(SIX_DIGITS)
                                            .stripTrailingZeros()
                                            .toPlainString()));
        }
        if (json instanceof ObjectNode object) {
            for (Map.Entry<String, JsonNode> field : object.properties()) {
                field.setValue(rounded(field.getValue()));
            }
        }
        return json;
    }

    static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void write(Path file, List<String> lines) {
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, lines.isEmpty() ? "" : String.join("\n", lines) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** JSON on one line, with a space where a reader's eye wants one. */
    private static String text(ObjectNode line) {
        try {
            return JSON.writer(new OneLine()).writeValueAsString(line);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}

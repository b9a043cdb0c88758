package io.lendstream.launcher.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.lendstream.schemas.topics.SubjectReport;
import io.lendstream.schemas.topics.TopicState;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Option;

/** The output format of a command: text for people, or JSON for tools. */
public final class OutputOptions {

    @Option(names = "--json", order = 90, description = "Print JSON, for tools.")
    private boolean json;

    /** Whether to print JSON. */
    public boolean json() {
        return json;
    }

    /** Topics as JSON, with field names that do not change. */
    static ArrayNode toJson(List<TopicState> topics) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        for (TopicState topic : topics) {
            var object = array.addObject()
                    .put("name", topic.name())
                    .put("presence", topic.presence().name().toLowerCase(Locale.ROOT))
                    .put("partitions", topic.partitions())
                    .put("replication", topic.replication());
            var config = object.putObject("config");
            topic.config().forEach(config::put);
            ArrayNode drifts = object.putArray("drifts");
            topic.drifts()
                    .forEach(drift -> drifts.addObject()
                            .put("setting", drift.setting())
                            .put("wanted", drift.wanted())
                            .put("actual", drift.actual()));
        }
        return array;
    }

    /** Subjects as JSON, with field names that do not change. */
    static ArrayNode subjectsToJson(List<SubjectReport> subjects) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        for (SubjectReport subject : subjects) {
            var object = array.addObject()
                    .put("subject", subject.subject())
                    .put("status", subject.status().name().toLowerCase(Locale.ROOT));
            subject.id().ifPresent(id -> object.put("id", id));
            ArrayNode messages = object.putArray("messages");
            subject.messages().forEach(messages::add);
        }
        return array;
    }

    /** JSON as text without control characters. */
    public static String write(JsonNode json) {
        try {
            // Escapes keep control characters from terminals; Jackson itself leaves DEL unescaped.
            return new JsonMapper()
                    .writerWithDefaultPrettyPrinter()
                    .with(JsonWriteFeature.ESCAPE_NON_ASCII)
                    .writeValueAsString(json)
                    .replace("\u007f", "\\u007f");
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree can always be written", e);
        }
    }
}

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

/** For whom a command prints: for people, or for tools. */
final class OutputOptions {

    @Option(names = "--json", description = "Print JSON, for tools.")
    private boolean json;

    boolean json() {
        return json;
    }

    /** Topics with stable names, whatever our classes are called. */
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

    /** Subjects with stable names, whatever our classes are called. */
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

    static String write(JsonNode json) {
        try {
            // Tools read the same, and a terminal obeys none of it: Jackson leaves only these as they are.
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

package io.lendstream.schemas.golden;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The example records of docs/topics.md have the fields of their schemas and pass the checks of the core. */
final class DocumentedExamplesTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> TIMES = List.of("at", "submittedAt", "windowStart", "windowEnd");
    private static final Pattern EXAMPLE =
            Pattern.compile("\\(`(lendstream\\.[a-z-]+)`, key [^)]*\\)(?s:.*?)```json\\n(?s:(.*?))```");

    @Test
    void everyExampleIsARecordOfItsTopic() throws IOException {
        List<MatchResult> examples = EXAMPLE.matcher(Files.readString(Path.of("../docs/topics.md")))
                .results()
                .toList();

        assertThat(examples).hasSize(6).allSatisfy(example -> {
            Topic<?> topic = TopicCatalogue.standard().find(example.group(1)).orElseThrow();
            assertThat(Codecs.decode(topic, PlainJson.read(Codecs.schema(topic), json(example.group(2)), Map.of())))
                    .isNotNull();
        });
    }

    /** The example with its times as text, as PlainJson has them. */
    private static JsonNode json(String text) throws JsonProcessingException {
        ObjectNode record = (ObjectNode) JSON.readTree(text);
        TIMES.stream()
                .filter(record::has)
                .forEach(name -> record.put(
                        name, Instant.ofEpochMilli(record.get(name).asLong()).toString()));
        return record;
    }
}

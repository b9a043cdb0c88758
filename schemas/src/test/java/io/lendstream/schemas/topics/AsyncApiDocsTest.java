package io.lendstream.schemas.topics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;

final class AsyncApiDocsTest {
    @Test
    void theDocumentIsAsTheCatalogueSays() {
        new GeneratedPage("asyncapi.yaml").mustBe(AsyncApiPage.text());
    }

    @Test
    void everyTopicIsAChannelWithItsRecordAndItsCleanup() {
        JsonNode document = AsyncApiPage.document();

        List<String> addresses = new ArrayList<>();
        document.path("channels")
                .forEach(channel -> addresses.add(channel.path("address").asText()));
        List<String> names = new ArrayList<>(
                TopicCatalogue.ALL.stream().map(TopicCatalogue.standard()::name).toList());
        names.add("lendstream.{topic}-dlq");
        assertThat(addresses).containsExactlyElementsOf(names);
        for (Topic<?> topic : TopicCatalogue.ALL) {
            JsonNode channel = document.path("channels").path(topic.suffix());
            assertThat(channel.at("/messages/" + topic.recordName() + "/$ref").asText())
                    .isEqualTo("#/components/messages/" + topic.recordName());
            JsonNode payload =
                    document.at("/components/messages/" + topic.recordName()).path("payload");
            assertThat(new Schema.Parser().parse(payload.path("schema").toString()))
                    .isEqualTo(WireSchemas.of(topic.recordName()));
            List<String> policies = new ArrayList<>();
            channel.at("/bindings/kafka/topicConfiguration")
                    .path("cleanup.policy")
                    .forEach(policy -> policies.add(policy.asText()));
            assertThat(String.join(",", policies)).isEqualTo(topic.cleanup().policy());
        }
    }

    @Test
    void everyReferenceLeadsSomewhere() {
        JsonNode document = AsyncApiPage.document();
        List<JsonNode> references = document.findValues("$ref");

        assertThat(references).isNotEmpty();
        for (JsonNode reference : references) {
            assertThat(document.at(reference.asText().substring(1)).isMissingNode())
                    .as(reference.asText())
                    .isFalse();
        }
    }

    @Test
    void yamlStandsInBlocksAndQuotesEveryText() throws Exception {
        JsonNode json = new ObjectMapper()
                .readTree(
                        "{\"a\": {\"b.c\": \"yes: #no\", \"d\": []}, \"e f\": [{\"g\": 1, \"h\": {\"i\": null}}, [{\"j\": true}]], \"k\": [\"l\", 2], \"m\": {}}");

        assertThat(Yaml.of(json)).isEqualTo("""
                        a:
                          b.c: "yes: #no"
                          d: []
                        "e f":
                          - g: 1
                            h:
                              i: null
                          - - j: true
                        k: ["l",2]
                        m: {}
                        """);
    }
}

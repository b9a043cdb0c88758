package io.lendstream.schemas.golden;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.schemas.codec.AnyRecord;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class PlainJsonTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Seeds
    void whatIsWrittenIsReadAsItWas(Random random) throws JsonProcessingException {
        Topic<?> topic = TopicCatalogue.ALL.get(random.nextInt(TopicCatalogue.ALL.size()));

        assertComesBack(topic, random.nextLong());
    }

    private static <T> void assertComesBack(Topic<T> topic, long seed) throws JsonProcessingException {
        T value = new AnyRecord(seed).of(topic.type());
        Map<String, JsonNode> around = Map.of("domain", JSON.getNodeFactory().textNode("east"));

        String text = PlainJson.write(Codecs.encode(topic, value), around).toString();

        assertThat(Codecs.decode(topic, PlainJson.read(Codecs.schema(topic), JSON.readTree(text), around)))
                .isEqualTo(value);
    }

    @Test
    void aMistakeIsNamedWithItsPlace() {
        assertThatThrownBy(() -> PlainJson.read(
                        Codecs.schema(TopicCatalogue.DOMAIN_EVENTS),
                        JSON.readTree("{'epoch': 1, 'sequence': 1, 'event': {'requestRate': {'arivals': 5}}}"
                                .replace('\'', '"')),
                        Map.of("domain", JSON.readTree("\"east\""), "at", JSON.readTree("\"2026-01-01T00:00:00Z\""))))
                .hasMessageContaining("DomainEvent.event.requestRate has no field [arivals]");
    }
}

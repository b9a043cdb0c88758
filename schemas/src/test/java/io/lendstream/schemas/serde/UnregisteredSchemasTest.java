package io.lendstream.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.registry.FakeRegistry;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class UnregisteredSchemasTest {
    private static final Map<String, Schema> WRITTEN = Map.of(
            "decisions", Codecs.schema(TopicCatalogue.DECISIONS), "reasons", Codecs.schema(TopicCatalogue.REASONS));

    private final FakeRegistry registry = new FakeRegistry();

    @AfterEach
    void stop() {
        registry.close();
    }

    @Test
    void areTheTopicsWithoutTheirSchemaWhereNoneIsRegisteredByItself() {
        Map<String, Object> careful = configs(AvroSerializer.AUTO_REGISTER, "false");
        assertThat(UnregisteredSchemas.of(careful, WRITTEN)).containsExactly("decisions", "reasons");

        new RegistryClient(RegistrySettings.from(careful))
                .register("decisions-value", Codecs.schema(TopicCatalogue.DECISIONS));
        assertThat(UnregisteredSchemas.of(careful, WRITTEN)).containsExactly("reasons");
        assertThat(UnregisteredSchemas.of(
                        configs(AvroSerializer.AUTO_REGISTER, false, AvroSerializer.USE_LATEST, true), WRITTEN))
                .containsExactly("reasons");
    }

    @Test
    void areNoneWhereTheFirstRecordRegistersItsSchema() {
        assertThat(UnregisteredSchemas.of(configs(), WRITTEN)).isEmpty();
        assertThat(registry.requests()).isEmpty();
    }

    private Map<String, Object> configs(Object... settings) {
        Map<String, Object> configs = new HashMap<>();
        configs.put(RegistrySettings.URL, registry.url());
        for (int i = 0; i < settings.length; i += 2) {
            configs.put(settings[i].toString(), settings[i + 1]);
        }
        return configs;
    }
}

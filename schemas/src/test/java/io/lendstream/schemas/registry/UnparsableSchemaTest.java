package io.lendstream.schemas.registry;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Avro's parser does not only throw exceptions of its own; a registry in another language takes schemas that it does
 * not.
 */
final class UnparsableSchemaTest {
    private final FakeRegistry registry = new FakeRegistry();

    @AfterEach
    void close() {
        registry.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'type': 'record', 'name': 'R', 'fields': [{'name': 'a', 'type': 'int', 'order': 'none'}]}",
                "{'type': 'fixed', 'name': 'F', 'size': 2147483647}",
                "{'type': 'record', 'name': 'R', 'fields': [{'name': 'a', 'type': 'int', 'order': 7}]}",
            })
    void aSchemaThatCannotBeParsedIsUnreadable(String schema) {
        int id = registry.add(schema.replace('\'', '"'), "AVRO", List.of());
        var client = new RegistryClient(RegistrySettings.from(Map.of(RegistrySettings.URL, registry.url())));

        assertThatThrownBy(() -> client.schemaById(id)).isInstanceOf(UnreadableSchemaException.class);
    }
}

package io.lendstream.schemas.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a service learns at its start is known to it, whatever ids and schemas others use. */
final class RegistryLearnTest {
    private static final Schema DECISION =
            SchemaBuilder.record("Decision").fields().requiredString("id").endRecord();

    private final FakeRegistry registry = new FakeRegistry();
    private final RegistryClient client =
            new RegistryClient(RegistrySettings.from(Map.of(RegistrySettings.URL, registry.url())));

    @AfterEach
    void close() {
        registry.close();
    }

    @Test
    void aVersionThatCannotBeReadIsLeftOut() {
        registry.addVersion("decisions-value", registry.add("{\"type\": \"nothing\"}", "AVRO", List.of()));
        int id = registry.add(DECISION.toString(), "AVRO", List.of());
        registry.addVersion("decisions-value", id);

        client.learn("decisions-value");

        for (int i = 0; i < UnknownIds.MOST_QUESTIONS; i++) {
            int unknown = 1_000 + i;
            assertThatThrownBy(() -> client.schemaById(unknown)).isInstanceOf(SchemaNotFoundException.class);
        }
        assertThat(client.schemaById(id)).isEqualTo(DECISION);
    }

    @Test
    void aSchemaThatIsKeptFromThisUserIsUnreadableAndNotAFailureOfTheRegistry() {
        int theirs = registry.add("\"string\"", "AVRO", List.of());
        registry.forbid(theirs);
        assertThatThrownBy(() -> client.schemaById(theirs))
                .as("nothing was read yet: the login may be wrong")
                .isExactlyInstanceOf(RegistryException.class);
        registry.addVersion("decisions-value", registry.add(DECISION.toString(), "AVRO", List.of()));

        client.learn("decisions-value");

        assertThatThrownBy(() -> client.schemaById(theirs))
                .isInstanceOf(UnreadableSchemaException.class)
                .hasMessageContaining("this user may not read schema id");
    }
}

package io.lendstream.schemas.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class RegistryClientTest {
    private static final Schema SMALL = SchemaBuilder.record("Sample")
            .namespace("test")
            .fields()
            .requiredString("name")
            .endRecord();
    private static final Schema WIDER = SchemaBuilder.record("Sample")
            .namespace("test")
            .fields()
            .requiredString("name")
            .optionalLong("size")
            .endRecord();
    private static final Schema STRICTER = SchemaBuilder.record("Sample")
            .namespace("test")
            .fields()
            .requiredString("name")
            .requiredLong("size")
            .endRecord();

    private final FakeRegistry registry = new FakeRegistry();
    private final RegistryClient client = client(Map.of());

    @AfterEach
    void close() {
        registry.close();
    }

    private RegistryClient client(Map<String, String> more) {
        Map<String, String> properties = new HashMap<>();
        properties.put(RegistrySettings.URL, registry.url());
        properties.put(RegistrySettings.RETRY_WAIT, "1");
        properties.putAll(more);
        return new RegistryClient(RegistrySettings.from(properties));
    }

    @Test
    void givesBackASchemaUnderTheIdItGotAtRegistration() {
        int id = client.register("samples-value", SMALL);

        assertThat(client(Map.of()).schemaById(id)).isEqualTo(SMALL);
        assertThat(client.register("samples-value", SMALL)).isEqualTo(id);
        assertThat(client.idOf("samples-value", SMALL)).isEqualTo(id);
    }

    @Test
    void asksOnlyOnceForWhatNeverChanges() {
        int id = client.register("samples-value", SMALL);
        client.register("samples-value", SMALL);
        client.schemaById(id);
        RegistryClient fresh = client(Map.of());
        fresh.schemaById(id);
        fresh.schemaById(id);

        assertThat(registry.requests())
                .containsExactly("POST /subjects/samples-value/versions", "GET /schemas/ids/" + id);
    }

    @Test
    void whatItHasLearnedCanBeReadAndWrittenWhileTheRegistryIsAway() {
        int id = client(Map.of()).register("samples-value", SMALL);
        client.learn("samples-value");
        client.learn("unknown-value");

        registry.goDown();

        assertThat(client.schemaById(id)).isEqualTo(SMALL);
        assertThat(client.idOf("samples-value", SMALL)).isEqualTo(id);
    }

    @Test
    void listsSubjectsAndTheirVersions() {
        int first = client.register("samples-value", SMALL);
        int second = client.register("samples-value", WIDER);

        assertThat(client.subjects()).containsExactly("samples-value");
        assertThat(client.versions("samples-value")).containsExactly(1, 2);
        assertThat(client.version("samples-value", 1))
                .isEqualTo(new RegisteredSchema("samples-value", 1, first, SMALL));
        assertThat(client.latest("samples-value")).contains(new RegisteredSchema("samples-value", 2, second, WIDER));
    }

    @Test
    void aSubjectThatDoesNotExistHasNoVersionsAndTakesAnySchema() {
        assertThat(client.versions("none-value")).isEmpty();
        assertThat(client.latest("none-value")).isEmpty();
        assertThat(client.compatibility("none-value")).isEmpty();
        assertThat(client.check("none-value", SMALL).compatible()).isTrue();
    }

    @Test
    void namesWithSlashesAndSpacesReachTheRegistryWhole() {
        client.register("a b/c+d-value", SMALL);

        assertThat(client.subjects()).containsExactly("a b/c+d-value");
    }

    @Test
    void toldToBeFullyCompatibleTheRegistryRefusesAFieldWithoutDefault() {
        client.setCompatibility("samples-value", CompatibilityLevel.FULL_TRANSITIVE);
        client.register("samples-value", SMALL);

        assertThat(client.compatibility("samples-value")).contains(CompatibilityLevel.FULL_TRANSITIVE);
        assertThat(client.check("samples-value", WIDER)).isEqualTo(new Compatibility(true, List.of()));
        assertThat(client.check("samples-value", STRICTER).compatible()).isFalse();
        assertThat(client.check("samples-value", STRICTER).messages()).isNotEmpty();
        assertThatThrownBy(() -> client.register("samples-value", STRICTER))
                .isInstanceOfSatisfying(IncompatibleSchemaException.class, e -> {
                    assertThat(e.status()).isEqualTo(409);
                    assertThat(e).hasMessageContaining("samples-value").hasMessageContaining("incompatible");
                });
    }

    @Test
    void anIdThatWasNeverAssignedIsNotFoundAndTheRegistrysCodeSaysWhy() {
        assertThatThrownBy(() -> client.schemaById(77)).isInstanceOfSatisfying(SchemaNotFoundException.class, e -> {
            assertThat(e.errorCode()).isEqualTo(40403);
            assertThat(e).hasMessageContaining("/schemas/ids/77").hasMessageContaining("404");
        });
    }

    @Test
    void anotherHttpServerIsNotMistakenForARegistryThatLacksTheSchema() {
        RegistryClient lost = client(Map.of(RegistrySettings.URL, registry.url() + "/apis/ccompat/v7/"));

        assertThatThrownBy(() -> lost.schemaById(1))
                .isExactlyInstanceOf(RegistryException.class)
                .hasMessageContaining("Check the path of schema.registry.url");
    }

    @Test
    void triesAgainAfterServerErrors() {
        registry.failNext(3);

        assertThat(client.register("samples-value", SMALL)).isEqualTo(1);
        assertThat(registry.requests()).hasSize(4);
    }

    @Test
    void givesUpAfterTheRetriesItWasGivenAndSaysThatTryingLaterMayHelp() {
        RegistryClient impatient = client(Map.of(RegistrySettings.RETRIES, "1"));
        registry.goDown();

        assertThatThrownBy(() -> impatient.schemaById(1))
                .isInstanceOfSatisfying(RegistryUnavailableException.class, e -> {
                    assertThat(e.status()).isEqualTo(500);
                    assertThat(e.errorCode()).isEqualTo(50001);
                });
        assertThat(registry.requests()).hasSize(2);
    }

    @Test
    void goesToTheNextAddressWhenOneDoesNotAnswerAndStaysThere() {
        FakeRegistry gone = new FakeRegistry();
        gone.close();
        RegistryClient two = client(Map.of(RegistrySettings.URL, gone.url() + ", " + registry.url()));

        assertThat(two.register("samples-value", SMALL)).isEqualTo(1);
        assertThat(two.subjects()).containsExactly("samples-value");
        assertThat(registry.requests()).hasSize(2);
    }

    @Test
    void aRegistryThatIsNotThereIsUnavailableAndNamedInTheMessage() {
        FakeRegistry gone = new FakeRegistry();
        gone.close();
        RegistryClient nobody = client(Map.of(RegistrySettings.URL, gone.url(), RegistrySettings.RETRIES, "0"));

        assertThatThrownBy(() -> nobody.schemaById(1))
                .isInstanceOf(RegistryUnavailableException.class)
                .hasMessageContaining(gone.url() + "/schemas/ids/1");
    }

    @Test
    void sendsTheUserItWasGiven() {
        registry.demandUser("lend:s:ecret");

        RegistryClient byProperty = client(
                Map.of(RegistrySettings.CREDENTIALS_SOURCE, "USER_INFO", RegistrySettings.USER_INFO, "lend:s:ecret"));
        RegistryClient byUrl =
                client(Map.of(RegistrySettings.URL, registry.url().replace("//", "//lend:s:ecret@")));

        assertThat(byProperty.register("samples-value", SMALL)).isEqualTo(1);
        assertThat(byUrl.schemaById(1)).isEqualTo(SMALL);
    }

    @Test
    void aWrongUserIsRefusedAtOnceWithAHintAndWithoutThePassword() {
        registry.demandUser("lend:secret");
        RegistryClient stranger = client(
                Map.of(RegistrySettings.CREDENTIALS_SOURCE, "USER_INFO", RegistrySettings.USER_INFO, "lend:hunter2"));

        assertThatThrownBy(() -> stranger.schemaById(1))
                .isExactlyInstanceOf(RegistryException.class)
                .hasMessageContaining("basic.auth.user.info")
                .hasMessageNotContaining("hunter2");
        assertThat(registry.requests()).hasSize(1);
    }

    @Test
    void readsASchemaThatRefersToAnother() {
        int part = registry.add(SMALL.toString(), "AVRO", List.of());
        registry.addVersion("part-value", part);
        int whole = registry.add(
                """
                {"type":"record","name":"Whole","namespace":"test","fields":[{"name":"part","type":"test.Sample"}]}""", "AVRO", List.of(Map.of("name", "test.Sample", "subject", "part-value", "version", 1)));

        assertThat(client.schemaById(whole).getField("part").schema()).isEqualTo(SMALL);
    }

    @Test
    void aSchemaOfAnotherLanguageCannotBeRead() {
        int id = registry.add("syntax = \"proto3\";", "PROTOBUF", List.of());

        assertThatThrownBy(() -> client.schemaById(id))
                .isInstanceOf(UnreadableSchemaException.class)
                .hasMessageContaining("PROTOBUF");
    }
}

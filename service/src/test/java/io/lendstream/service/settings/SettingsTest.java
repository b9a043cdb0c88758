package io.lendstream.service.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {
    private static final Key<Duration> NOTICE =
            Key.period("actuator.lease-notice", "45s", "How long a job gets to leave.");
    private static final Key<Integer> NODES = Key.count("actuator.nodes", 1, 100, 4, "How many nodes.");
    private static final Key<Long> MEMORY = Key.bytes("memory", "8GiB", "How much memory.");
    private static final Key<Optional<Path>> FILE =
            Key.path("actuator.file", ".", "A file.").optional();
    private static final Key<Mode> MODE = Key.choice("mode", Mode.DRY_RUN, "What to do.");
    private static final List<Key<?>> KEYS = List.of(NOTICE, NODES, MEMORY, FILE, MODE);

    private enum Mode {
        DRY_RUN,
        REAL
    }

    @TempDir
    Path folder;

    @Test
    void theCommandLineGoesBeforeTheEnvironmentBeforeTheFileBeforeTheDefault() throws IOException {
        SettingsFile file = file("a.properties", "actuator.lease-notice=10s\nactuator.nodes=2\nmemory=1MiB");
        Map<String, String> environment =
                Map.of("LENDSTREAM_ACTUATOR_LEASE_NOTICE", "20s", "LENDSTREAM_ACTUATOR_NODES", "3");

        Settings settings = Settings.of(KEYS, file, environment, List.of("actuator.lease-notice=1m30s"));

        assertThat(settings.get(NOTICE)).isEqualTo(Duration.ofSeconds(90));
        assertThat(settings.get(NODES)).isEqualTo(3);
        assertThat(settings.get(MEMORY)).isEqualTo(1L << 20);
        assertThat(settings.get(FILE)).isEmpty();
        assertThat(settings.get(MODE)).isEqualTo(Mode.DRY_RUN);
    }

    @Test
    void aFlatYamlFileSaysTheSame() throws IOException {
        SettingsFile file = file("a.yaml", """
                # a comment
                actuator.lease-notice: 10s   # and another
                kafka.sasl.jaas.config: "org.x.Login required user='a' #1;"
                """);

        Settings settings = Settings.of(KEYS, file, Map.of(), List.of());

        assertThat(settings.get(NOTICE)).isEqualTo(Duration.ofSeconds(10));
        assertThat(settings.under("kafka.")).containsEntry("sasl.jaas.config", "org.x.Login required user='a' #1;");
    }

    @Test
    void nestedYamlIsRefusedWithTheWayToWriteIt() {
        assertThatThrownBy(() -> file("a.yaml", "actuator:\n  nodes: 3\n"))
                .isInstanceOf(SettingsException.class)
                .hasMessageContaining("line 2, is 'nodes: 3', but must be 'name: value' without indentation");
    }

    @Test
    void anUnknownNameStopsTheStartAndNamesTheNearest() throws IOException {
        SettingsFile file = file("a.properties", "actuator.lease-notise=10s");

        assertThatThrownBy(() -> Settings.of(KEYS, file, Map.of(), List.of()))
                .hasMessageStartingWith("actuator.lease-notise (")
                .hasMessageEndingWith(
                        "is not a setting; did you mean actuator.lease-notice? Correct it, or leave it out.");
        assertThatThrownBy(() -> Settings.of(KEYS, "acuator.nodes=3"))
                .hasMessage(
                        "acuator.nodes (--set) is not a setting; did you mean actuator.nodes? Correct it, or leave it"
                                + " out.");
        assertThatThrownBy(
                        () -> Settings.of(KEYS, SettingsFile.NONE, Map.of("LENDSTREAM_ACTUATOR_NODE", "3"), List.of()))
                .hasMessageContaining("did you mean LENDSTREAM_ACTUATOR_NODES?");
        assertThatThrownBy(() -> Settings.of(KEYS, "actuator.lease=3s"))
                .hasMessageContaining("did you mean actuator.lease-notice?");
    }

    @Test
    void whatStandsInTheEnvironmentForOthersIsLeftAlone() {
        Map<String, String> environment = Map.of(
                "PATH", "/bin",
                "LENDSTREAM_DATA", "/data",
                "LENDSTREAM_SCHEDULER_EPOCH", "3",
                "LENDSTREAM_ACTUATOR_SERVICE_HOST", "10.0.0.1",
                "LENDSTREAM_ACTUATOR_PORT_9404_TCP_ADDR", "10.0.0.1");

        assertThat(Settings.of(KEYS, SettingsFile.NONE, environment, List.of()).given())
                .isEmpty();
    }

    @Test
    void oneFileServesAllServices() throws IOException {
        SettingsFile file = file("a.properties", "scheduler.policy=deepboot\nactuator.nodes=2");

        assertThat(Settings.of(KEYS, file, Map.of(), List.of()).get(NODES)).isEqualTo(2);
        assertThatThrownBy(() -> Settings.of(KEYS, "scheduler.policy=deepboot"))
                .hasMessage("scheduler.policy is a setting of another service. Set it there, or leave it out.");
    }

    @Test
    void clientPropertiesPassThroughFromEverywhere() {
        Settings settings = Settings.of(
                KEYS,
                SettingsFile.NONE,
                Map.of("LENDSTREAM_KAFKA_SECURITY_PROTOCOL", "SSL", "LENDSTREAM_SCHEMA_REGISTRY_URL", "http://r:1"),
                List.of("kafka.producer.acks=1"));

        assertThat(settings.under("kafka.")).isEqualTo(Map.of("security.protocol", "SSL", "producer.acks", "1"));
        assertThat(settings.under("schema.registry.")).isEqualTo(Map.of("url", "http://r:1"));
    }

    @Test
    void aValueOutOfBoundsNamesItselfTheBoundAndTheWayOut() {
        assertThatThrownBy(() -> Settings.of(KEYS, "actuator.nodes=0"))
                .hasMessage(
                        "actuator.nodes is '0' (--set), but must be a whole number from 1 to 100. Change it, or leave"
                                + " it out for 4.");
        assertThatThrownBy(() -> Settings.of(KEYS, "actuator.lease-notice=45"))
                .hasMessageContaining("must be a duration above 0s such as 250ms, 45s, 5m or 1h");
        assertThatThrownBy(() -> Settings.of(KEYS, "mode=dry")).hasMessageContaining("must be dry-run or real");
    }

    @Test
    void secretsAreNotShown() {
        Settings settings = Settings.of(KEYS, "kafka.ssl.keystore.password=hunter2", "actuator.nodes=2");

        assertThat(settings.lines()).containsExactly("actuator.nodes=2", "kafka.ssl.keystore.password=(hidden)");
    }

    @Test
    void aLoginInAnAddressIsNotShown() {
        Settings settings = Settings.of(KEYS, "schema.registry.url=https://me:hunter2@registry:8081/a@b");

        assertThat(settings.lines()).containsExactly("schema.registry.url=https://(hidden)@registry:8081/a@b");
    }

    @Test
    void aFileThatIsNotThereIsNamed() {
        assertThatThrownBy(() -> SettingsFile.read(folder.resolve("none.yaml")))
                .isInstanceOf(SettingsException.class)
                .hasMessageContaining("none.yaml, which does not exist");
    }

    @Test
    void everySettingDescribesItself() {
        assertThat(ReferencePage.section("Actuator", "Carries decisions out.", KEYS))
                .contains("| `actuator.lease-notice` | `LENDSTREAM_ACTUATOR_LEASE_NOTICE` | duration above 0s |"
                        + " `45s` | How long a job gets to leave. |");
    }

    private SettingsFile file(String name, String text) throws IOException {
        return SettingsFile.read(Files.writeString(folder.resolve(name), text));
    }
}

package io.lendstream.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/**
 * What deploy has for agents is well-formed, asks for no more rights than it needs, and sets settings that there are.
 */
class DeploymentFilesTest {
    private static final Path DEPLOY = Path.of("../deploy");

    @Test
    void theDaemonSetHasTheLeastRights() throws IOException {
        JsonNode pod = daemonSet().at("/spec/template/spec");
        JsonNode container = pod.at("/containers/0");

        assertThat(pod.at("/securityContext/runAsNonRoot").asBoolean()).isTrue();
        assertThat(pod.at("/securityContext/runAsUser").asInt()).isPositive();
        assertThat(pod.at("/securityContext/seccompProfile/type").asText()).isEqualTo("RuntimeDefault");
        assertThat(pod.at("/automountServiceAccountToken").asBoolean(true)).isFalse();
        assertThat(pod.at("/hostNetwork").asBoolean()).isFalse();
        assertThat(pod.at("/hostPID").asBoolean()).isFalse();
        assertThat(container.at("/securityContext/readOnlyRootFilesystem").asBoolean())
                .isTrue();
        assertThat(container.at("/securityContext/allowPrivilegeEscalation").asBoolean(true))
                .isFalse();
        assertThat(container.at("/securityContext/privileged").asBoolean(true)).isFalse();
        assertThat(container.at("/securityContext/capabilities/drop/0").asText())
                .isEqualTo("ALL");
        assertThat(container.at("/securityContext/capabilities/add").isMissingNode())
                .isTrue();
        assertThat(container.at("/resources/limits").has("nvidia.com/gpu"))
                .as("takes no GPU")
                .isFalse();
        assertThat(container.at("/resources/limits").has("memory")).isTrue();
    }

    @Test
    void everyMountHasItsVolumeAndWhatIsOfTheHostIsReadOnly() throws IOException {
        JsonNode pod = daemonSet().at("/spec/template/spec");
        var volumes = new TreeMap<String, JsonNode>();
        pod.at("/volumes").forEach(volume -> volumes.put(volume.get("name").asText(), volume));

        for (JsonNode mount : pod.at("/containers/0/volumeMounts")) {
            JsonNode volume = volumes.remove(mount.get("name").asText());
            assertThat(volume).as("volume of %s", mount).isNotNull();
            if (volume.has("hostPath")) {
                assertThat(mount.path("readOnly").asBoolean()).isTrue();
            }
        }
        assertThat(volumes).as("volumes that no container mounts").isEmpty();
    }

    @Test
    void theSelectorFindsItsPodsAndTheyFitThePorts() throws IOException {
        JsonNode spec = daemonSet().get("spec");

        assertThat(spec.at("/template/metadata/labels")).containsAll(spec.at("/selector/matchLabels"));
        assertThat(spec.at("/template/spec/containers/0/livenessProbe/httpGet/port")
                        .asText())
                .isEqualTo(spec.at("/template/spec/containers/0/ports/0/name").asText());
    }

    @Test
    void settingsAreThoseThatThereAre() throws IOException {
        var environment = new TreeMap<String, String>();
        for (JsonNode variable : daemonSet().at("/spec/template/spec/containers/0/env")) {
            environment.put(
                    variable.get("name").asText(), variable.path("value").asText("node-1"));
        }
        for (String line : unit().getOrDefault("Service", List.of())) {
            if (line.startsWith("Environment=LENDSTREAM_")) {
                String[] pair = line.substring("Environment=".length()).split("=", 2);
                environment.put(pair[0], pair[1].replace("%S", "/var/lib"));
            }
        }
        var keys = new ArrayList<Key<?>>(CommonKeys.ALL);
        keys.addAll(AgentKeys.ALL);

        Settings settings = Settings.of(keys, SettingsFile.NONE, environment, List.of());

        assertThat(settings.get(AgentKeys.NODE)).contains("node-1");
        assertThat(settings.get(AgentKeys.SPOOL_DIR)).isPresent();
        assertThat(settings.get(CommonKeys.HEALTH_PORT)).hasValue(9404);
    }

    @Test
    void theUnitIsHardened() throws IOException {
        Map<String, List<String>> unit = unit();

        assertThat(unit).containsOnlyKeys("Unit", "Service", "Install");
        assertThat(unit.get("Service"))
                .contains(
                        "DynamicUser=yes",
                        "ProtectSystem=strict",
                        "NoNewPrivileges=yes",
                        "CapabilityBoundingSet=",
                        "SystemCallFilter=@system-service",
                        "DevicePolicy=closed",
                        "Restart=always");
        assertThat(unit.get("Service").stream()
                        .filter(line -> !line.startsWith("Environment=") && !line.startsWith("DeviceAllow="))
                        .map(line -> line.substring(0, line.indexOf('='))))
                .as("each is set once")
                .doesNotHaveDuplicates();
    }

    private static JsonNode daemonSet() throws IOException {
        var mapper = new YAMLMapper();
        var kinds = new TreeSet<String>();
        JsonNode found = mapper.nullNode();
        try (var documents = mapper.readerFor(JsonNode.class)
                .<JsonNode>readValues(DEPLOY.resolve("agent/daemonset.yaml").toFile())) {
            Iterable<JsonNode> all = () -> documents;
            for (JsonNode document :
                    StreamSupport.stream(all.spliterator(), false).toList()) {
                kinds.add(document.get("kind").asText());
                if (document.get("kind").asText().equals("DaemonSet")) {
                    found = document;
                }
            }
        }
        assertThat(kinds).containsExactly("ConfigMap", "DaemonSet", "ServiceAccount");
        return found;
    }

    /** Lines of the unit by section; fails on what is neither a section, nor a comment, nor a setting. */
    private static Map<String, List<String>> unit() throws IOException {
        var sections = new TreeMap<String, List<String>>();
        String section = "";
        for (String line : Files.readAllLines(DEPLOY.resolve("systemd/lendstream-agent.service"))) {
            if (line.startsWith("[")) {
                section = line.substring(1, line.length() - 1);
                sections.put(section, new ArrayList<>());
            } else if (!line.isBlank() && !line.startsWith("#")) {
                assertThat(line).matches("[A-Z][A-Za-z]+=.*");
                sections.get(section).add(line);
            }
        }
        return sections;
    }
}

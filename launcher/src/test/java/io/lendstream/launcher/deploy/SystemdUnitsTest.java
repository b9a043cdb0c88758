package io.lendstream.launcher.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsFile;
import io.lendstream.stack.ServiceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SystemdUnitsTest {
    private static final Path UNITS = Path.of("../deploy/systemd");

    @ParameterizedTest
    @ValueSource(strings = {"scheduler", "forecaster", "actuator", "agent"})
    void aUnitHasNoPrivilegesAndSeesAReadOnlySystem(String service) throws IOException {
        assertThat(unit(service).get("Service"))
                .contains(
                        "DynamicUser=yes",
                        "ProtectSystem=strict",
                        "ProtectHome=yes",
                        "PrivateTmp=yes",
                        "NoNewPrivileges=yes",
                        "CapabilityBoundingSet=",
                        "RestrictSUIDSGID=yes",
                        "RestrictNamespaces=yes",
                        "UMask=0077",
                        "Restart=always",
                        "RestartPreventExitStatus=2")
                .anyMatch(line -> line.equals("PrivateDevices=yes") || line.equals("DevicePolicy=closed"))
                .anyMatch(line -> line.startsWith("MemoryMax="))
                .noneMatch(line -> line.startsWith("User=") || line.startsWith("AmbientCapabilities=CAP"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"scheduler", "forecaster", "actuator", "agent"})
    void aUnitStartsACommandThatThereIsWithSettingsThatThereAre(String service) throws IOException {
        List<String> lines = unit(service).getOrDefault("Service", List.of());
        var environment = new TreeMap<String, String>();
        for (String line : lines) {
            if (line.startsWith("Environment=")) {
                String[] pair = line.substring("Environment=".length())
                        .replace("\"", "")
                        .replace("%S", "/var/lib")
                        .split("=", 2);
                environment.put(pair[0], pair[1]);
            }
        }

        Settings settings = Settings.of(KnownSettings.of(service), SettingsFile.NONE, environment, List.of());

        assertThat(lines)
                .contains("ExecStart=/opt/lendstream/lendstream %s --config /etc/lendstream/%s.properties"
                        .formatted(service, service));
        assertThat(ServiceKind.named(service)).isPresent();
        assertThat(settings.given().values())
                .as("state is kept where the unit may write")
                .contains("/var/lib/lendstream/" + service);
        assertThat(lines).contains("StateDirectory=lendstream/" + service);
    }

    @Test
    void allOnOneMachineTellOfTheirHealthOnPortsOfTheirOwn() throws IOException {
        List<String> ports = new ArrayList<>();
        for (String service : List.of("scheduler", "forecaster", "actuator", "agent")) {
            unit(service).getOrDefault("Service", List.of()).stream()
                    .filter(line -> line.startsWith("Environment=LENDSTREAM_HEALTH_PORT="))
                    .forEach(ports::add);
        }

        assertThat(ports).hasSize(4).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(strings = {"scheduler", "forecaster", "actuator", "agent"})
    void aUnitSaysEachThingOnce(String service) throws IOException {
        Map<String, List<String>> unit = unit(service);

        assertThat(unit).containsOnlyKeys("Unit", "Service", "Install");
        assertThat(unit.get("Service").stream()
                        .map(line -> line.substring(0, line.indexOf('=')))
                        .filter(name -> !name.equals("Environment") && !name.equals("DeviceAllow")))
                .doesNotHaveDuplicates();
    }

    @Test
    void noUnitIsLeftOut() throws IOException {
        try (Stream<Path> files = Files.list(UNITS)) {
            assertThat(files.map(file -> file.getFileName().toString()).collect(Collectors.toSet()))
                    .containsExactlyInAnyOrder(
                            "lendstream-scheduler.service",
                            "lendstream-forecaster.service",
                            "lendstream-actuator.service",
                            "lendstream-agent.service");
        }
    }

    /** Lines by section; fails on what is neither a section, nor a comment, nor a setting. */
    private static Map<String, List<String>> unit(String service) throws IOException {
        var sections = new TreeMap<String, List<String>>();
        List<String> section = new ArrayList<>();
        for (String line : Files.readAllLines(UNITS.resolve("lendstream-%s.service".formatted(service)))) {
            if (line.startsWith("[")) {
                section = new ArrayList<>();
                sections.put(line.substring(1, line.length() - 1), section);
            } else if (!line.isBlank() && !line.startsWith("#")) {
                assertThat(line).matches("[A-Z][A-Za-z]+=.*");
                section.add(line);
            }
        }
        return sections;
    }
}

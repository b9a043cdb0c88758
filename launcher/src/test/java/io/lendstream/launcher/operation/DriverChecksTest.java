package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.launcher.operation.Finding.Level;
import io.lendstream.service.host.HostName;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriverChecksTest {
    @TempDir
    private Path directory;

    @Test
    void aWebhookIsReachedOrNot() throws IOException {
        int port;
        try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = server.getLocalPort();
            assertThat(DriverChecks.webhook("http://127.0.0.1:%d/orders".formatted(port))
                            .level())
                    .isEqualTo(Level.OK);
        }

        assertThat(DriverChecks.webhook("http://127.0.0.1:%d/orders".formatted(port))
                        .line())
                .startsWith("FAIL webhook: http://127.0.0.1:%d/orders cannot be reached".formatted(port));
        assertThat(DriverChecks.webhook("orders").found()).contains("names no host");
    }

    @Test
    void theProcessDriverManagesThisHostUnlessTheSettingsSayMore() {
        assertThat(DriverChecks.scope("n1,n2").line())
                .isEqualTo("ok   scope: the actuator manages the nodes of actuator.nodes: n1,n2");
        assertThat(DriverChecks.scope(" ").line())
                .isEqualTo(
                        "ok   scope: the actuator manages node %s (this host); the agent of this machine must report it by this name",
                        HostName.or(Optional.empty(), ""));
    }

    @Test
    void everyProgramThatUsesAfeIsAskedForItsPythonAndTorch() throws IOException {
        Path jobs = Files.createDirectories(directory.resolve("jobs"));
        Path good = python("python-good", "echo python 3.11.1, torch 2.3.1");
        Path bad = python("python-bad", "echo \"ModuleNotFoundError: No module named 'torch'\"; exit 1");
        Files.writeString(
                jobs.resolve("a.json"), "{\"mode\": \"afe\", \"command\": [\"%s\", \"train.py\"]}".formatted(good));
        Files.writeString(jobs.resolve("b.json"), "{\"command\": [\"%s\", \"train.py\"]}".formatted(bad));
        Files.writeString(jobs.resolve("c.json"), "{\"mode\": \"restart\", \"command\": [\"/there/is/none\"]}");

        assertThat(DriverChecks.programs(directory))
                .extracting(Finding::line)
                .containsExactly(
                        "ok   programs: %s: python 3.11.1, torch 2.3.1".formatted(jobs.resolve("a.json")),
                        "FAIL programs: %s: ModuleNotFoundError: No module named 'torch'; install torch for that Python"
                                .formatted(jobs.resolve("b.json")));
    }

    @Test
    void programsThatCannotBeReadFail() {
        assertThat(DriverChecks.programs(directory))
                .singleElement()
                .satisfies(finding -> assertThat(finding.isFailure()).isTrue());
    }

    @Test
    void settingsWithoutAnActuatorAreIgnored() throws IOException {
        Path config = Files.writeString(directory.resolve("a.properties"), "kafka.bootstrap.servers=somewhere:9092\n");

        assertThat(new DriverChecks(config, finding -> {}).concernsUs()).isFalse();
    }

    /** A stand-in that prints what Python would. */
    private Path python(String name, String script) throws IOException {
        Path file = Files.writeString(directory.resolve(name), "#!/bin/sh\n" + script + "\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}

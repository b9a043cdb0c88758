package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.service.host.HostName;
import io.lendstream.service.settings.SettingsException;
import io.lendstream.service.settings.SettingsFile;
import io.lendstream.stack.Foreground;
import io.lendstream.stack.Foreground.Said;
import io.lendstream.stack.Installation;
import io.lendstream.stack.ServiceKind;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Checks the machine for the needs of an actuator's driver. */
final class DriverChecks {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int CONNECT_MILLIS = 3_000;
    private static final int PYTHON_SECONDS = 60;
    private static final int HTTP = 80;
    private static final int HTTPS = 443;
    private static final String VERSIONS =
            "import sys, torch; print('python %d.%d.%d, torch %s' % (*sys.version_info[:3], torch.__version__))";

    private final Path config;
    private final Map<String, String> settings;
    private final Consumer<Finding> to;

    /** @param config the actuator's settings */
    DriverChecks(Path config, Consumer<Finding> to) {
        this.config = config;
        this.settings = SettingsFile.read(config).values();
        this.to = to;
    }

    /** Whether these are the settings of an actuator. */
    boolean concernsUs() {
        return settings.keySet().stream().anyMatch(name -> name.startsWith("actuator."));
    }

    /** The actuator's name if it has standby instances on other machines. */
    Optional<String> withStandby() {
        return settings.getOrDefault("actuator.standby", "false").strip().equals("true")
                ? Optional.of(settings.getOrDefault("actuator.name", "actuator").strip())
                : Optional.empty();
    }

    void run() {
        String driver = settings.getOrDefault("actuator.driver", "simulated");
        to.accept(complaints(driver));
        if (driver.equals("webhook")) {
            to.accept(webhook(settings.getOrDefault("actuator.webhook.url", "")));
        }
        if (driver.equals("process")) {
            to.accept(scope(settings.getOrDefault("actuator.nodes", "")));
            programs(Path.of(settings.getOrDefault("actuator.process.programs", "/etc/lendstream/programs")))
                    .forEach(to);
        }
    }

    /** The checks that the actuator itself makes at its start. */
    private Finding complaints(String driver) {
        Said said = Foreground.listen(ServiceKind.ACTUATOR
                .child(Installation.find())
                .withArguments(List.of("--check", "--config", config.toString())));
        return said.exit() == 0
                ? Finding.ok("driver", "driver %s can start here".formatted(driver))
                : Finding.fail("driver", said.text().strip().replace("\n", "; "), "");
    }

    /** The nodes on which the process driver starts processes; all of them have to be this machine. */
    static Finding scope(String nodes) {
        if (!nodes.isBlank()) {
            return Finding.ok("scope", "the actuator manages the nodes of actuator.nodes: " + nodes.strip());
        }
        try {
            return Finding.ok(
                    "scope",
                    "the actuator manages node %s (this host); the agent of this machine must report it by this name"
                            .formatted(HostName.or(Optional.empty(), "actuator.nodes")));
        } catch (SettingsException e) {
            return Finding.fail("scope", String.valueOf(e.getMessage()), "");
        }
    }

    static Finding webhook(String url) {
        try (var socket = new Socket()) {
            URI address = URI.create(url);
            if (address.getHost() == null) {
                return Finding.fail("webhook", "'%s' names no host".formatted(url), "correct actuator.webhook.url");
            }
            int usual = "https".equals(address.getScheme()) ? HTTPS : HTTP;
            int port = address.getPort() < 0 ? usual : address.getPort();
            socket.connect(new InetSocketAddress(address.getHost(), port), CONNECT_MILLIS);
            return Finding.ok("webhook", "%s takes connections".formatted(url));
        } catch (IOException | IllegalArgumentException e) {
            return Finding.fail(
                    "webhook",
                    "%s cannot be reached: %s".formatted(url, e.getMessage()),
                    "start the service at this address, or correct actuator.webhook.url");
        }
    }

    /** A finding for each program that uses AFE, or one that none does. */
    static List<Finding> programs(Path programs) {
        List<Finding> findings = new ArrayList<>();
        try (Stream<Path> files = Files.list(programs.resolve("jobs"))) {
            for (Path file : files.filter(each -> each.toString().endsWith(".json"))
                    .sorted()
                    .toList()) {
                JsonNode program = JSON.readTree(Files.readString(file));
                if (program.path("mode").asText("afe").equals("afe")) {
                    findings.add(python(file, program));
                }
            }
        } catch (IOException e) {
            findings.add(Finding.fail(
                    "programs",
                    "%s cannot be read: %s".formatted(programs.resolve("jobs"), e),
                    "correct it or its rights"));
            return findings;
        }
        if (findings.isEmpty()) {
            findings.add(Finding.ok("programs", "no program in %s uses AFE".formatted(programs)));
        }
        return findings;
    }

    private static Finding python(Path file, JsonNode program) throws IOException {
        String interpreter = program.path("command").path(0).asText("");
        if (!Path.of(interpreter).getFileName().toString().startsWith("python")) {
            return Finding.warn(
                    "programs",
                    "%s starts '%s', so its Python and torch cannot be checked".formatted(file, interpreter),
                    "check by hand that torch is installed");
        }
        var builder = new ProcessBuilder(interpreter, "-c", VERSIONS).redirectErrorStream(true);
        program.path("environment")
                .properties()
                .forEach(each ->
                        builder.environment().put(each.getKey(), each.getValue().asText()));
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            if (!process.waitFor(PYTHON_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            } else if (process.exitValue() == 0) {
                return Finding.ok("programs", "%s: %s".formatted(file, said));
            }
            String last = said.lines().reduce("", (one, next) -> next);
            return Finding.fail("programs", "%s: %s".formatted(file, last), "install torch for that Python");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Finding.fail("programs", "%s: interrupted".formatted(file), "try again");
        } catch (IOException e) {
            return Finding.fail(
                    "programs", "%s: %s".formatted(file, e.getMessage()), "install it, or correct the command");
        }
    }
}

package io.lendstream.launcher.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.stack.Installation;
import io.lendstream.stack.ServiceKind;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One process of a service or a broker, with what it prints. */
record Instance(String name, Process process, Path log) {
    private static final Pattern HEALTH = Pattern.compile("health and metrics on (http://\\S+)");
    private static final Pattern TAKEOVER = Pattern.compile("took over domain \\S+ in epoch (\\d+)");
    private static final HttpClient HTTP =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

    /** Starts a service with these arguments, and these variables beside the environment of the tests. */
    static Instance start(
            Installation installation,
            ServiceKind service,
            String name,
            Path directory,
            List<String> arguments,
            Map<String, String> environment) {
        return start(
                installation.classPath(service.module()), service.mainClass(), name, directory, arguments, environment);
    }

    /** Starts another program that the tests of a service's module have, with these arguments. */
    static Instance start(
            Installation installation,
            ServiceKind service,
            String program,
            String name,
            Path directory,
            List<String> arguments) {
        Path tests = Path.of("..", service.module(), "target", "test-classes");
        assertThat(tests.resolve(program.replace('.', '/') + ".class")).exists();
        List<Path> classPath = new ArrayList<>(installation.classPath(service.module()));
        classPath.add(tests);
        return start(classPath, program, name, directory, arguments, Map.of());
    }

    /** Starts a Java program with these arguments, and these variables beside the environment of the tests. */
    static Instance start(
            List<Path> classPath,
            String mainClass,
            String name,
            Path directory,
            List<String> arguments,
            Map<String, String> environment) {
        var command = new ArrayList<String>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                String.join(
                        File.pathSeparator,
                        classPath.stream().map(Path::toString).toList()),
                mainClass));
        command.addAll(arguments);
        Path log = directory.resolve(name + ".log");
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
            builder.environment().putAll(environment);
            Process process = builder.start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
            return new Instance(name, process, log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends it as the loss of its machine would. */
    void kill() {
        process.destroyForcibly();
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends it in order, as who replaces it does. */
    void stop() {
        process.destroy();
        try {
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).as(this::printed).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    void pause() {
        signal(process.pid(), "STOP");
    }

    void resume() {
        signal(process.pid(), "CONT");
    }

    /** Sends a signal to a process that this test has started. */
    static void signal(long pid, String signal) {
        try {
            new ProcessBuilder("kill", "-" + signal, Long.toString(pid)).start().waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    boolean isAlive() {
        return process.isAlive();
    }

    String printed() {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The last epoch that it has begun; empty where it has had no domain yet. */
    OptionalLong epoch() {
        Matcher said = TAKEOVER.matcher(printed());
        OptionalLong last = OptionalLong.empty();
        while (said.find()) {
            last = OptionalLong.of(Long.parseLong(said.group(1)));
        }
        return last;
    }

    boolean isReady() {
        return ask("/health/ready").filter(answer -> answer.statusCode() == 200).isPresent();
    }

    /** What its readiness check answers; empty where nothing answers. */
    String readiness() {
        return ask("/health/ready").map(HttpResponse::body).orElse("");
    }

    private Optional<HttpResponse<String>> ask(String path) {
        Matcher said = HEALTH.matcher(printed());
        if (!said.find()) {
            return Optional.empty();
        }
        HttpRequest request = HttpRequest.newBuilder(URI.create(said.group(1)).resolve(path))
                .timeout(Duration.ofSeconds(2))
                .build();
        try {
            return Optional.of(HTTP.send(request, HttpResponse.BodyHandlers.ofString()));
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}

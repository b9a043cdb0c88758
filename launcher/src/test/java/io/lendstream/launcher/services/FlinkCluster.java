package io.lendstream.launcher.services;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.stack.Ports;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A Flink cluster of real processes, a job manager and task managers, as its start scripts would run them. It has Flink's own
 * jars and nothing of ours.
 */
final class FlinkCluster implements AutoCloseable {
    /** What a Flink distribution has, by the start of the jars' names; the rest must come with the job. */
    private static final List<String> OURS = List.of(
            "lendstream-",
            "flink-connector-kafka",
            "kafka-clients",
            "avro-",
            "hipparchus-",
            "jackson-",
            "picocli-",
            "micrometer-",
            "prometheus-");

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path directory;
    private final String classPath;
    private final URI rest;
    private final List<Process> processes = new ArrayList<>();

    /**
     * Starts the job manager.
     *
     * @param forecaster target directory of the built module
     */
    FlinkCluster(Path forecaster, Path directory) {
        this.directory = directory;
        classPath = classPath(forecaster);
        int port = Ports.free();
        rest = URI.create("http://127.0.0.1:" + port);
        try {
            Files.writeString(directory.resolve("config.yaml"), configuration(Ports.free(), port));
            Files.writeString(directory.resolve("logback.xml"), """
                    <configuration>
                      <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
                        <encoder><pattern>%d{HH:mm:ss.SSS} %-5level %logger{0} %msg%n</pattern></encoder>
                      </appender>
                      <root level="WARN"><appender-ref ref="out"/></root>
                    </configuration>
                    """);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        start("job-manager", "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint");
    }

    /** Starts one more task manager. */
    Process startTaskManager(String name) {
        return start(name, "org.apache.flink.runtime.taskexecutor.TaskManagerRunner");
    }

    private static String classPath(Path forecaster) {
        try (Stream<Path> libraries = Files.list(forecaster.resolve("lib"));
                Stream<Path> more = Files.list(forecaster.resolve("flink/cluster"))) {
            return String.join(
                    File.pathSeparator,
                    Stream.concat(libraries, more)
                            .filter(jar ->
                                    OURS.stream().noneMatch(jar.getFileName().toString()::startsWith))
                            .map(Path::toString)
                            .toList());
        } catch (IOException e) {
            throw new UncheckedIOException("the forecaster is not built: ./mvnw -DskipTests package", e);
        }
    }

    private static String configuration(int rpcPort, int restPort) {
        return """
                jobmanager:
                  rpc:
                    address: 127.0.0.1
                    port: %d
                  bind-host: 127.0.0.1
                rest:
                  address: 127.0.0.1
                  bind-address: 127.0.0.1
                  port: %d
                heartbeat:
                  interval: 1000
                  timeout: 8000
                taskmanager:
                  host: 127.0.0.1
                  bind-host: 127.0.0.1
                  numberOfTaskSlots: 2
                  cpu:
                    cores: 1.0
                  memory:
                    framework:
                      heap:
                        size: 128m
                      off-heap:
                        size: 64m
                    task:
                      heap:
                        size: 128m
                      off-heap:
                        size: 0m
                    network:
                      min: 32m
                      max: 32m
                    managed:
                      size: 64m
                    jvm-metaspace:
                      size: 192m
                    jvm-overhead:
                      min: 64m
                      max: 64m
                """.formatted(rpcPort, restPort);
    }

    private Process start(String name, String mainClass) {
        var command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "--add-opens=java.base/java.util=ALL-UNNAMED",
                "--add-opens=java.base/java.lang=ALL-UNNAMED",
                "--add-opens=java.base/java.time=ALL-UNNAMED",
                "-Djava.io.tmpdir=" + directory,
                "-Dlogback.configurationFile=" + directory.resolve("logback.xml"),
                "-cp",
                classPath,
                mainClass,
                "--configDir",
                directory.toString());
        try {
            var builder = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve(name + ".log").toFile());
            builder.environment().put("FLINK_CONF_DIR", directory.toString());
            Process process = builder.start();
            processes.add(process);
            return process;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until so many task managers have told the job manager that they are there. */
    void awaitTaskManagers(int count) {
        await().atMost(Deployment.PATIENCE)
                .ignoreExceptions()
                .until(() -> get("/taskmanagers").get("taskmanagers").size() == count);
    }

    /** Submits a jar, to be run with its manifest's main class; the job's id. */
    String submit(Path jar, List<String> arguments) {
        JsonNode uploaded = post("/jars/upload", "multipart/form-data; boundary=part", multipart(jar));
        String id = Path.of(uploaded.get("filename").asText()).getFileName().toString();
        try {
            byte[] order = JSON.writeValueAsBytes(Map.of("programArgsList", arguments));
            return post("/jars/" + id + "/run", "application/json", order)
                    .get("jobid")
                    .asText();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] multipart(Path jar) {
        var body = new ByteArrayOutputStream();
        try {
            String head = String.join(
                    "\r\n",
                    "--part",
                    "Content-Disposition: form-data; name=\"jarfile\"; filename=\"job.jar\"",
                    "Content-Type: application/x-java-archive",
                    "",
                    "");
            body.write(head.getBytes(UTF_8));
            body.write(Files.readAllBytes(jar));
            body.write("\r\n--part--\r\n".getBytes(UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return body.toByteArray();
    }

    /** How often the job went on from a checkpoint after a failure. */
    int restored(String job) {
        return get("/jobs/" + job + "/checkpoints").at("/counts/restored").asInt();
    }

    private JsonNode get(String path) {
        return send(HttpRequest.newBuilder(rest.resolve(path)).build());
    }

    private JsonNode post(String path, String type, byte[] body) {
        return send(HttpRequest.newBuilder(rest.resolve(path))
                .header("Content-Type", type)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build());
    }

    private JsonNode send(HttpRequest request) {
        try {
            HttpResponse<String> response =
                    HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() / 100 != 2) {
                throw new AssertionError("%s: %d %s".formatted(request.uri(), response.statusCode(), response.body()));
            }
            return JSON.readTree(response.body());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    @Override
    public void close() {
        processes.forEach(Process::destroyForcibly);
    }
}

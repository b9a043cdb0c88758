package io.lendstream.stack;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
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
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 3, unit = TimeUnit.MINUTES)
class StackIT {

    private final Installation installation = Installation.find();
    private final List<String> told = new ArrayList<>();

    @TempDir
    private Path directory;

    @Test
    void brokerAndRegistryCanBeUsedAndAreGoneAfterwards() throws Exception {
        Path files = directory.resolve("run");
        List<Long> processes;
        try (var stack = Stack.start(StackSettings.defaults().withDataDirectory(files), installation, told::add)) {
            processes = stack.children().stream().map(RunningChild::pid).toList();

            assertThat(roundTrip(stack.bootstrapServers(), "hello")).isEqualTo("hello");
            assertThat(register(stack.confluentUrl(), "greetings-value")).contains("\"id\"");
            assertThat(files).isDirectoryContaining("glob:**/broker").isDirectoryContaining("glob:**/logs");
        }

        assertThat(processes).hasSize(2).noneMatch(StackIT::isAlive);
        assertThat(files).doesNotExist();
    }

    @Test
    void twoStacksRunSideBySide() throws Exception {
        try (var one = Stack.start(StackSettings.defaults(), installation, told::add);
                var other = Stack.start(StackSettings.defaults(), installation, told::add)) {
            assertThat(roundTrip(one.bootstrapServers(), "one")).isEqualTo("one");
            assertThat(roundTrip(other.bootstrapServers(), "other")).isEqualTo("other");
            assertThat(one.dataDirectory()).isNotEqualTo(other.dataDirectory());
        }
    }

    /** A library both in the archive and among the newer ones would be a library in two versions. */
    @Test
    void theRegistryHasEachReplacedLibraryOnce() throws IOException {
        List<Path> classPath = installation.registryClassPath();
        Path archive = classPath.get(classPath.size() - 1).resolveSibling("lib");

        List<String> replaced = classPath.stream()
                .limit(classPath.size() - 1)
                .map(jar -> jar.getFileName().toString().replaceFirst("-[0-9][^-]*\\.jar$", ""))
                .toList();
        List<String> old;
        try (var jars = Files.list(archive)) {
            old = jars.map(jar -> jar.getFileName().toString()).sorted().toList();
        }

        assertThat(replaced).contains("netty-codec-http", "vertx-core", "jackson-databind");
        assertThat(old)
                .noneMatch(jar -> replaced.stream().anyMatch(library -> jar.matches(".*\\." + library + "-[0-9].*")));
    }

    @Test
    void aPortInUseIsOneLineThatNamesThePort() throws IOException {
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int port = taken.getLocalPort();

            assertThatThrownBy(
                            () -> Stack.start(StackSettings.defaults().withBrokerPort(port), installation, told::add))
                    .isInstanceOf(StackException.class)
                    .hasMessage(
                            "--broker-port is %d, but another process listens on 127.0.0.1:%d already; stop it, or choose another port (0: any free one)."
                                    .formatted(port, port));
        }
    }

    private static String roundTrip(String bootstrapServers, String value) throws Exception {
        Map<String, Object> client = Map.of("bootstrap.servers", bootstrapServers);
        try (var admin = Admin.create(client);
                var producer = new KafkaProducer<>(client, new StringSerializer(), new StringSerializer());
                var consumer = new KafkaConsumer<>(client, new StringDeserializer(), new StringDeserializer())) {
            admin.createTopics(List.of(new NewTopic("greetings", 1, (short) 1)))
                    .all()
                    .get(30, TimeUnit.SECONDS);
            producer.send(new ProducerRecord<>("greetings", "key", value)).get(30, TimeUnit.SECONDS);
            var partition = new TopicPartition("greetings", 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            return consumer.poll(Duration.ofSeconds(30)).iterator().next().value();
        }
    }

    private static String register(URI registry, String subject) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(registry + "/subjects/" + subject + "/versions"))
                .header("Content-Type", "application/vnd.schemaregistry.v1+json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"schema\": \"\\\"string\\\"\"}", UTF_8))
                .build();
        return HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString(UTF_8))
                .body();
    }

    private static boolean isAlive(long pid) {
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
    }
}

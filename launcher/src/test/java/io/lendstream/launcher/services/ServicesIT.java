package io.lendstream.launcher.services;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.BatchRange;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.launcher.stack.Installation;
import io.lendstream.launcher.stack.ServiceKind;
import io.lendstream.launcher.stack.Stack;
import io.lendstream.launcher.stack.StackSettings;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicAdmin;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.CommonKeys;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.settings.Settings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 4, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ServicesIT {
    private static final TopicCatalogue TOPICS = TopicCatalogue.standard();
    private static final DomainId DOMAIN = new DomainId("default");
    private static final JobId JOB = new JobId("job");
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Installation installation = Installation.find();
    private final Stack stack = Stack.start(StackSettings.defaults(), installation, line -> {});
    private final KafkaSettings kafka = KafkaSettings.of(
            "test",
            Settings.of(
                    CommonKeys.ALL,
                    "kafka.bootstrap.servers=" + stack.bootstrapServers(),
                    "schema.registry.url=" + stack.confluentUrl()));
    private final List<Process> processes = new ArrayList<>();
    private long sequence;

    @TempDir
    private Path directory;

    ServicesIT() {
        try (Admin admin = Admin.create(kafka.admin())) {
            new TopicAdmin(admin, TOPICS).create(2, 1);
        }
    }

    @AfterEach
    void stopServices() {
        processes.forEach(Process::destroyForcibly);
    }

    @AfterAll
    void stopStack() {
        stack.close();
    }

    @Test
    void anActuatorThatIsKilledForgetsNothingAndReportsNothingTwice() throws Exception {
        assertThat(run(ServiceKind.AGENT, "agent", "--once", "--nodes", "2", "--training-nodes", "1")
                        .waitFor(60, TimeUnit.SECONDS))
                .isTrue();
        List<GpuId> gpus = read(TopicCatalogue.NODES).stream()
                .filter(node -> node.nodeId().value().equals("node-00"))
                .flatMap((Node node) -> node.gpus().stream())
                .map(Gpu::gpuId)
                .toList();
        assertThat(gpus).hasSize(4);
        Process first = actuator();

        try (RecordWriter scheduler = RecordWriter.open(kafka, TOPICS, "/lendstream/scheduler")) {
            scheduler.write(TopicCatalogue.TRAINING_JOBS, JOB.value(), job());
            scheduler.write(TopicCatalogue.DECISIONS, DOMAIN.value(), resize(gpus.subList(0, 1), gpus.subList(0, 1)));
            scheduler.flush();
            awaitReport(1, Outcome.BOUND);
            poison();
            first.destroyForcibly().waitFor();
            scheduler.write(TopicCatalogue.DECISIONS, DOMAIN.value(), resize(gpus.subList(1, 2), gpus.subList(0, 2)));
            scheduler.flush();
            actuator();
            awaitReport(2, Outcome.APPLIED);
        }

        List<ActuationReport> reports = read(TopicCatalogue.ACTUATION_REPORTS);
        assertThat(reports)
                .extracting(report -> report.decision().sequence() + " " + report.outcome())
                .contains("1 ACCEPTED", "1 BOUND", "1 APPLIED", "2 ACCEPTED", "2 BOUND", "2 APPLIED")
                .doesNotHaveDuplicates();
        assertThat(reports).extracting(ActuationReport::at).isSorted();
        List<ConsumerRecord<byte[], byte[]>> letters = deadLetters(TopicCatalogue.DECISIONS);
        assertThat(letters).isNotEmpty();
        assertThat(header(letters.get(0), DeadLetters.TOPIC)).isEqualTo("lendstream.decisions");
        assertThat(header(letters.get(0), DeadLetters.SERVICE)).isEqualTo("actuator");
    }

    @Test
    void aServiceSaysHowItIsAndEndsWithZeroWhenItIsTerminated() throws Exception {
        Path log = directory.resolve("agent.log");
        Process agent = run(
                ServiceKind.AGENT,
                "agent",
                "--domain",
                "elsewhere",
                "--nodes",
                "1",
                "--training-nodes",
                "0",
                "--set",
                "health.port=0");
        URI health = await().atMost(PATIENCE)
                .until(() -> address(log), Optional::isPresent)
                .orElseThrow();
        await().atMost(PATIENCE)
                .untilAsserted(() ->
                        assertThat(status(health.resolve("/health/ready"))).isEqualTo(200));

        assertThat(status(health.resolve("/health/live"))).isEqualTo(200);
        assertThat(status(health.resolve("/metrics"))).isEqualTo(200);

        agent.destroy();

        assertThat(agent.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(agent.exitValue()).as(Files.readString(log)).isZero();
    }

    private Process actuator() throws IOException {
        int count = processes.size();
        Path log = directory.resolve("actuator-%d.log".formatted(count));
        Process process = run(
                ServiceKind.ACTUATOR,
                "actuator-" + count,
                "--state-dir",
                directory.resolve("state").toString());
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(Files.readString(log)).contains("is ready"));
        return process;
    }

    private Process run(ServiceKind service, String name, String... arguments) throws IOException {
        var command = new ArrayList<String>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx96m",
                "-cp",
                String.join(
                        File.pathSeparator,
                        installation.classPath(service.module()).stream()
                                .map(Path::toString)
                                .toList()),
                service.mainClass(),
                "--bootstrap-server",
                stack.bootstrapServers(),
                "--registry",
                stack.confluentUrl().toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(name + ".log").toFile())
                .start();
        processes.add(process);
        return process;
    }

    private void awaitReport(long decision, Outcome outcome) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(read(TopicCatalogue.ACTUATION_REPORTS))
                        .anyMatch(report -> report.decision().sequence() == decision && report.outcome() == outcome));
    }

    private void poison() {
        try (RecordWriter somebody = RecordWriter.open(kafka, TOPICS, "/somebody")) {
            somebody.send(new ProducerRecord<>(
                    TOPICS.name(TopicCatalogue.DECISIONS), DOMAIN.value().getBytes(UTF_8), new byte[] {1, 2, 3}));
            somebody.flush();
        }
    }

    private <T> List<T> read(Topic<T> topic) {
        var values = new ArrayList<T>();
        try (RecordWriter nobody = RecordWriter.open(kafka, TOPICS, "/nobody");
                RecordReader reader = RecordReader.open(
                        kafka,
                        TOPICS,
                        new DeadLetters(nobody::send, TOPICS, "test", new SimpleMeterRegistry()),
                        Duration.ofMinutes(5))) {
            reader.handing(topic, received -> received.value().ifPresent(values::add));
            reader.start(Map.of());
            while (!reader.hasCaughtUp()) {
                reader.poll(Duration.ofMillis(100));
            }
        }
        return values;
    }

    private List<ConsumerRecord<byte[], byte[]>> deadLetters(Topic<?> topic) {
        var letters = new ArrayList<ConsumerRecord<byte[], byte[]>>();
        try (var consumer = new KafkaConsumer<byte[], byte[]>(kafka.consumer())) {
            var partition = new TopicPartition(TOPICS.deadLetters(topic), 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            consumer.poll(Duration.ofSeconds(5)).forEach(letters::add);
        }
        return letters;
    }

    private static String header(ConsumerRecord<byte[], byte[]> record, String name) {
        return new String(record.headers().lastHeader(name).value(), UTF_8);
    }

    private static Optional<URI> address(Path log) throws IOException {
        Matcher said = Pattern.compile("health and metrics on (http://\\S+)").matcher(Files.readString(log));
        return said.find() ? Optional.of(URI.create(said.group(1))) : Optional.empty();
    }

    private static int status(URI address) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    private Decision resize(List<GpuId> named, List<GpuId> all) {
        sequence++;
        Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        return new Decision(
                new DecisionId(DOMAIN, 1, sequence),
                now,
                now.plusSeconds(60),
                false,
                new Reason("plan", "", Map.of(), List.of()),
                new Action.Resize(JOB, named, new Allocation(all, 10, 0, 1, Mechanism.AFE)));
    }

    /** Starts and changes within two seconds. */
    private static TrainingJob job() {
        return new TrainingJob(
                JOB,
                DOMAIN,
                Instant.now().truncatedTo(ChronoUnit.MILLIS),
                "cifar10",
                1,
                1,
                8,
                true,
                0,
                Optional.empty(),
                new BatchRange(10, 1000, 1, 100, Optional.empty()),
                new GoodputProfile(new ThroughputParameters(0.1, 0.04, 0, 0, 0, 0, 1), new GradientNoise(1, 1)),
                new RescaleCosts(Duration.ofSeconds(2), Duration.ofSeconds(1)),
                "simulated");
    }
}

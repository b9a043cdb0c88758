package io.lendstream.launcher.services;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.stack.ServiceKind;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Serializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 5, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class DeploymentIT {
    private static final DomainId DOMAIN = new DomainId("default");

    private final Deployment deployment = new Deployment(1);
    private int started;

    @TempDir
    private Path directory;

    @AfterAll
    void stop() {
        deployment.close();
    }

    @Test
    void fiveProcessesThatMeetOnlyInKafkaLendAndTakeBackWhateverRubbishIsAmongTheirRecords() throws Exception {
        Path config = Files.writeString(directory.resolve("lendstream.properties"), """
                kafka.bootstrap.servers=%s
                schema.registry.url=%s
                kafka.producer.linger.ms=0
                kafka.processing.guarantee=at_least_once
                kafka.state.dir=%s
                time=virtual
                health.port=0
                agent.backend=simulated
                agent.nodes=4
                agent.training-nodes=2
                agent.period=60s
                """.formatted(
                        deployment.bootstrapServers(), deployment.registry(), directory.resolve("scheduler-state")));
        Map<ServiceKind, Deployment.Running> services = new TreeMap<>();
        for (ServiceKind kind : ServiceKind.values()) {
            if (kind != ServiceKind.LOAD) {
                services.put(kind, start(kind, "--config", config.toString()));
            }
        }
        services.values().forEach(Deployment.Running::ready);
        Map<String, byte[]> rubbish = rubbish();
        rubbish.values().forEach(value -> deployment.write(TopicCatalogue.REQUEST_RATES, "chat", value));

        Deployment.Running load = start(
                ServiceKind.LOAD,
                "--config",
                config.toString(),
                "--nodes",
                "4",
                "--training-nodes",
                "2",
                "--set",
                "load.stop-after=50s");

        await().atMost(Duration.ofMinutes(3)).until(() -> !load.process().isAlive());
        assertThat(load.exit()).as(load.printed()).isZero();
        List<Decision> decisions = deployment.read(TopicCatalogue.DECISIONS);
        assertThat(decisions).anyMatch(decision -> decision.action() instanceof Action.Lend);
        assertThat(decisions).anyMatch(decision -> decision.action() instanceof Action.Reclaim);
        HistoryChecker history = new HistoryChecker(DOMAIN);
        List<ActuationReport> reports = deployment.read(TopicCatalogue.ACTUATION_REPORTS);
        deployment.read(TopicCatalogue.DOMAIN_EVENTS).forEach(history::take);
        reports.forEach(history::heard);
        Verdict verdict = history.verdict(decisions, deployment.read(TopicCatalogue.LEASES));
        assertThat(verdict.isContent()).as(verdict.toString()).isTrue();
        assertAllArePutAside(rubbish);
        services.values().forEach(service -> service.process().destroy());
        for (Map.Entry<ServiceKind, Deployment.Running> service : services.entrySet()) {
            assertThat(service.getValue().exit())
                    .as(() -> service.getKey() + ": " + service.getValue().printed())
                    .isZero();
            assertThat(service.getValue().printed()).doesNotContain("\tat ");
        }
    }

    /** Each by each of its readers, with where it stood; and nothing else. */
    private void assertAllArePutAside(Map<String, byte[]> rubbish) {
        for (String reader : List.of("scheduler", "forecaster")) {
            List<ConsumerRecord<byte[], byte[]>> letters = deployment.deadLetters(TopicCatalogue.REQUEST_RATES).stream()
                    .filter(letter ->
                            Deployment.header(letter, DeadLetters.SERVICE).equals(reader))
                    .sorted(Comparator.comparingLong(
                            letter -> Long.parseLong(Deployment.header(letter, DeadLetters.OFFSET))))
                    .toList();
            assertThat(letters)
                    .as(reader)
                    .extracting(letter -> (Object) letter.value())
                    .containsExactlyElementsOf(rubbish.values());
            assertThat(letters).allSatisfy(letter -> {
                assertThat(Deployment.header(letter, DeadLetters.TOPIC)).isEqualTo("lendstream.request-rates");
                assertThat(Deployment.header(letter, DeadLetters.ERROR_MESSAGE)).isNotBlank();
                assertThat(letter.key()).isEqualTo("chat".getBytes(UTF_8));
            });
            assertThat(letters)
                    .extracting(letter -> Deployment.header(letter, DeadLetters.OFFSET))
                    .doesNotHaveDuplicates();
        }
    }

    private Map<String, byte[]> rubbish() {
        Map<String, byte[]> rubbish = new TreeMap<>();
        rubbish.put("cut off", Arrays.copyOf(encoded(rate(Instant.now())), 20));
        rubbish.put("far future", encoded(rate(Instant.now().plus(Duration.ofDays(400)))));
        GenericRecord nan = rate(Instant.now());
        nan.put("p99LatencySeconds", Double.NaN);
        rubbish.put("not a number", encoded(nan));
        rubbish.put(
                "unknown schema",
                ByteBuffer.wrap(encoded(rate(Instant.now()))).putInt(1, 4711).array());
        rubbish.put("unparsable", "{\"service\":\"chat\"}".getBytes(UTF_8));
        rubbish.put(
                "wrong magic",
                ByteBuffer.wrap(encoded(rate(Instant.now()))).put(0, (byte) 7).array());
        return rubbish;
    }

    private byte[] encoded(GenericRecord rate) {
        try (Serializer<GenericRecord> serializer =
                SerdeFactory.of(deployment.kafka().serdes()).serializer()) {
            return serializer.serialize(Deployment.TOPICS.name(TopicCatalogue.REQUEST_RATES), rate);
        }
    }

    private static GenericRecord rate(Instant end) {
        Instant windowEnd = end.truncatedTo(ChronoUnit.SECONDS);
        return Codecs.encode(
                TopicCatalogue.REQUEST_RATES,
                new RequestRate(
                        new ServiceId("chat"),
                        DOMAIN,
                        "test",
                        "boot",
                        1,
                        windowEnd.minusSeconds(15),
                        windowEnd,
                        RequestRate.Requests.answered(10),
                        new RequestRate.Latency(Optional.empty(), Optional.of(0.1)),
                        List.of(),
                        List.of()));
    }

    @Test
    void aServiceThatCannotStartSaysWhyInOneLine() throws Exception {
        String broker = deployment.bootstrapServers();
        String portInUse = broker.substring(broker.indexOf(':') + 1);
        List<Complaint> complaints = new ArrayList<>();
        for (ServiceKind kind : ServiceKind.values()) {
            // A node's own agent starts without a broker, and keeps what it has to say: AgentIT.
            List<String> nowhere = new ArrayList<>(List.of(
                    "--bootstrap-server", "127.0.0.1:1", "--set", "connect-timeout=2s", "--set", "wait-for-broker=0s"));
            if (kind == ServiceKind.AGENT) {
                nowhere.addAll(List.of("--backend", "simulated"));
            }
            complaints.add(new Complaint(
                    1,
                    "kafka.bootstrap.servers is 127.0.0.1:1, and no broker answered there within 2s.",
                    start(kind, nowhere.toArray(String[]::new))));
            complaints.add(new Complaint(
                    1,
                    "health.port is %s, but the service cannot listen on it".formatted(portInUse),
                    start(kind, with("--set", "health.port=" + portInUse))));
            complaints.add(new Complaint(2, "topic-prefx", start(kind, with("--set", "topic-prefx=x."))));
        }
        for (Complaint complaint : complaints) {
            assertThat(complaint.of().exit()).as(complaint.of().printed()).isEqualTo(complaint.exit());
            assertThat(complaint.of().printed().lines())
                    .singleElement()
                    .satisfies(line -> assertThat(line).contains(complaint.says()));
        }
    }

    private record Complaint(int exit, String says, Deployment.Running of) {}

    private Deployment.Running start(ServiceKind kind, String... arguments) {
        started++;
        return deployment.start(
                kind, directory.resolve("%s-%d.log".formatted(kind.command(), started)), List.of(arguments));
    }

    private String[] with(String... arguments) {
        return deployment.with(arguments).toArray(String[]::new);
    }
}

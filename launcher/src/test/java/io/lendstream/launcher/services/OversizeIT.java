package io.lendstream.launcher.services;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.LetterBounds;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.stack.ServiceKind;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Records that are small on the wire and large when they are unpacked, on a real broker, with the scheduler under exactly-once:
 * what reads them goes on, also after a restart, and what follows them is decided.
 */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
final class OversizeIT {
    private static final DomainId DOMAIN = new DomainId("default");
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final int BYTES = 3_000_000;
    /** Five processes start at once, beside whatever else this machine does. */
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private static final List<Topic<?>> READ = List.of(
            TopicCatalogue.SERVICES,
            TopicCatalogue.REQUEST_RATES,
            TopicCatalogue.NODES,
            TopicCatalogue.TRAINING_JOBS,
            TopicCatalogue.DECISIONS);

    private final Deployment deployment = new Deployment(1);

    @TempDir
    private Path directory;

    @AfterEach
    void stop() {
        deployment.close();
    }

    @Test
    void whatUnpacksToMoreThanAnyRecordMayHaveEndsNoService() throws Exception {
        // A letter of this topic is refused by the broker, whatever the producer thinks it can send.
        limit(TopicCatalogue.CONTROL, 50_000);
        Deployment.Running scheduler = scheduler("scheduler");
        Deployment.Running actuator = actuator();
        Deployment.Running forecaster = forecaster();
        start(
                ServiceKind.AGENT,
                "agent",
                "--backend",
                "simulated",
                "--nodes",
                "2",
                "--training-nodes",
                "1",
                "--set",
                "agent.period=2s");
        sendBombs(); // they wait for the services that start
        List.of(scheduler, actuator, forecaster).forEach(OversizeIT::awaitReady);

        try (var gateway = new SteadyGateway(deployment.kafka(), Duration.ofSeconds(1), List.of(CHAT))) {
            gateway.start();
            declare();
            awaitDecidedAndDone(0);
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(deployment.read(TopicCatalogue.DEMAND_FORECASTS))
                            .anyMatch(forecast -> forecast.service().equals(CHAT)));
            await().atMost(PATIENCE).untilAsserted(this::assertLetters);
            int before = deployment.read(TopicCatalogue.DOMAIN_EVENTS).size();
            scheduler.process().destroyForcibly().waitFor();
            Deployment.Running second = scheduler("second");
            awaitReady(second);
            awaitDecidedAndDone(before);
            assertThat(List.of(second, actuator, forecaster))
                    .allSatisfy(running -> assertThat(running.process().isAlive())
                            .as(running.printed())
                            .isTrue());
        }
        assertThat(scheduler.printed()).contains("lendstream.control-dlq and is sent again without its value");
    }

    private static void awaitReady(Deployment.Running service) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(service.health()).isPresent();
            assertThat(Deployment.status(service.health().get().resolve("/health/ready")))
                    .isEqualTo(200);
        });
    }

    /** A decision for the service was made and carried out, and the log has gone on beyond so many events. */
    private void awaitDecidedAndDone(int events) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(deployment.read(TopicCatalogue.DECISIONS))
                    .anyMatch(decision -> decision.action().kind().equals("serve"));
            assertThat(deployment.read(TopicCatalogue.ACTUATION_REPORTS)).isNotEmpty();
            assertThat(deployment.read(TopicCatalogue.DOMAIN_EVENTS)).hasSizeGreaterThan(events);
        });
    }

    private void assertLetters() {
        for (Topic<?> topic : READ) {
            Map<String, ConsumerRecord<byte[], byte[]>> letters = new TreeMap<>();
            deployment.deadLetters(topic).stream()
                    .filter(letter -> letter.headers().lastHeader(LetterBounds.CUT_FROM) != null)
                    .forEach(letter -> letters.put(Deployment.header(letter, DeadLetters.SERVICE), letter));
            String reader = topic.equals(TopicCatalogue.DECISIONS) ? "actuator" : "scheduler";
            assertThat(letters).as(topic.toString()).containsKey(reader);
            assertThat(Deployment.header(letters.get(reader), LetterBounds.CUT_FROM))
                    .isEqualTo(Integer.toString(BYTES));
        }
        assertThat(deployment.deadLetters(TopicCatalogue.REQUEST_RATES))
                .extracting(letter -> Deployment.header(letter, DeadLetters.SERVICE))
                .contains("scheduler", "forecaster");
        assertThat(deployment.deadLetters(TopicCatalogue.SERVICES))
                .anyMatch(letter -> letter.headers().lastHeader(LetterBounds.KEY_CUT_FROM) != null)
                .anyMatch(letter -> letter.headers().lastHeader(LetterBounds.HEADERS_LEFT_OUT) != null);
        assertThat(deployment.deadLetters(TopicCatalogue.CONTROL))
                .singleElement()
                .satisfies(letter -> {
                    assertThat(letter.value()).isEmpty();
                    assertThat(Deployment.header(letter, LetterBounds.CUT_FROM)).isEqualTo("300000");
                });
    }

    private void sendBombs() throws Exception {
        Map<String, Object> properties = new TreeMap<>(deployment.kafka().producer());
        properties.put("compression.type", "gzip");
        properties.put("max.request.size", 40_000_000);
        properties.put("buffer.memory", 80_000_000L);
        byte[] key = "chat".getBytes(UTF_8);
        var headers = new RecordHeaders();
        for (int i = 0; i < 300; i++) {
            headers.add("name-" + i, new byte[10_000]);
        }
        byte[] noise = new byte[300_000];
        new Random(1).nextBytes(noise);
        try (var producer = new KafkaProducer<byte[], byte[]>(properties)) {
            for (Topic<?> topic : READ) {
                String name = Deployment.TOPICS.name(topic);
                producer.send(new ProducerRecord<>(name, key, new byte[BYTES])).get();
            }
            String services = Deployment.TOPICS.name(TopicCatalogue.SERVICES);
            producer.send(new ProducerRecord<>(services, new byte[BYTES], new byte[7]))
                    .get();
            producer.send(new ProducerRecord<>(services, new byte[BYTES], null)).get();
            producer.send(new ProducerRecord<>(services, null, null, key, new byte[7], headers))
                    .get();
            producer.send(new ProducerRecord<>(Deployment.TOPICS.name(TopicCatalogue.CONTROL), key, noise))
                    .get();
        }
    }

    private void limit(Topic<?> topic, int bytes) throws Exception {
        var letters = new ConfigResource(ConfigResource.Type.TOPIC, Deployment.TOPICS.deadLetters(topic));
        var limit = new AlterConfigOp(
                new ConfigEntry("max.message.bytes", Integer.toString(bytes)), AlterConfigOp.OpType.SET);
        try (Admin admin = Admin.create(deployment.kafka().admin())) {
            admin.incrementalAlterConfigs(Map.of(letters, List.of(limit))).all().get();
        }
    }

    /** Needs one replica at all times. */
    private void declare() {
        try (RecordWriter writer = RecordWriter.open(deployment.kafka(), Deployment.TOPICS, "/test")) {
            writer.write(
                    TopicCatalogue.SERVICES,
                    CHAT.value(),
                    new InferenceService(
                            CHAT,
                            DOMAIN,
                            Instant.now(),
                            List.of(),
                            Duration.ofMillis(500),
                            50,
                            Optional.empty(),
                            1,
                            Duration.ofSeconds(8)));
            writer.flush();
        }
    }

    private Deployment.Running scheduler(String name) {
        return start(ServiceKind.SCHEDULER, name, "--set", "kafka.state.dir=" + directory.resolve("scheduler"));
    }

    private Deployment.Running actuator() {
        return start(
                ServiceKind.ACTUATOR,
                "actuator",
                "--state-dir",
                directory.resolve("actuator").toString());
    }

    private Deployment.Running forecaster() {
        return start(
                ServiceKind.FORECASTER,
                "forecaster",
                "--set",
                "forecaster.step=1s",
                "--set",
                "forecaster.horizons=1s,5s",
                "--set",
                "forecaster.checkpoint-interval=3s");
    }

    private Deployment.Running start(ServiceKind service, String name, String... arguments) {
        List<String> all = new java.util.ArrayList<>(deployment.with(arguments));
        all.addAll(List.of("--set", "health.port=0", "--set", "connect-timeout=60s"));
        return deployment.start(service, directory.resolve(name + ".log"), all);
    }
}

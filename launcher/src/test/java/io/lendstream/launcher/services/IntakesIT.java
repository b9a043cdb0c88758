package io.lendstream.launcher.services;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.services.Deployment.Printed;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.ForeignDomainException;
import io.lendstream.schemas.topics.Intakes;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicAdmin;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsFile;
import io.lendstream.stack.Installation;
import io.lendstream.stack.ServiceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two teams on a broker that asks who they are and lets each write to the topics of its own intake, by SASL/PLAIN and the rights
 * in {@code deploy/acl}: what one writes changes nothing in the domain of the other.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
final class IntakesIT {
    private static final DomainId OURS = new DomainId("south");
    private static final DomainId THEIRS = new DomainId("east");
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final String INTAKES = "team-a=east,team-b=south";
    private static final TopicCatalogue SITE =
            new TopicCatalogue(TopicCatalogue.DEFAULT_PREFIX, Intakes.parse(INTAKES), Optional.empty());
    private static final List<String> USERS = List.of(
            "broker",
            "admin",
            "scheduler",
            "forecaster",
            "actuator",
            "workload-team-a",
            "agent-team-a",
            "operator-team-a",
            "workload-team-b",
            "agent-team-b",
            "operator-team-b");
    private static final Duration WINDOW = Duration.ofSeconds(15);
    private static final int QUOTA_BYTES_PER_SECOND = 50_000;

    @TempDir
    private Path directory;

    @Test
    void aTeamChangesNothingInTheDomainOfAnother() throws Exception {
        try (Deployment deployment = new Deployment(broker(), client("admin"))) {
            prepare(deployment);
            List<Deployment.Running> services = List.of(
                    start(deployment, ServiceKind.SCHEDULER, "kafka.state.dir=" + directory.resolve("state")),
                    start(deployment, ServiceKind.ACTUATOR, "actuator.state-dir=" + directory.resolve("done")),
                    start(deployment, ServiceKind.FORECASTER, "forecaster.step=15s\nforecaster.horizons=15s,60s"));
            services.forEach(Deployment.Running::ready);

            nobodyWritesToAnothersTopics(deployment);
            try (RecordWriter agentA = writer(deployment, "agent-team-a", "team-a");
                    RecordWriter workloadA = writer(deployment, "workload-team-a", "team-a");
                    RecordWriter agentB = writer(deployment, "agent-team-b", "team-b");
                    RecordWriter workloadB = writer(deployment, "workload-team-b", "team-b")) {
                attack(agentA, workloadA);
                agentB.write(TopicCatalogue.NODES, "n1", node(OURS, "g1"));
                agentB.flush();
                workloadB.write(TopicCatalogue.SERVICES, "chat", chat(OURS));
                rates(workloadB, OURS, 5);
                attack(agentA, workloadA);

                await().atMost(Duration.ofMinutes(2))
                        .pollInterval(Duration.ofSeconds(2))
                        .untilAsserted(() -> {
                            assertThat(deployment.read(TopicCatalogue.LEASES))
                                    .anyMatch(lease -> lease.domain().equals(OURS)
                                            && lease.gpuId().value().equals("g1")
                                            && lease.owner() instanceof Owner.Serving);
                            assertThat(deployment.read(TopicCatalogue.DEMAND_FORECASTS))
                                    .anyMatch(forecast -> forecast.domain().equals(OURS));
                        });
            }

            everythingInOurDomainIsOurs(deployment);
            operatorsAreKnownByTheirGroup(deployment);
            aFloodOfOneTeamIsSlowedDown(deployment);
        }
    }

    /** About our domain, which is refused; and all our names once more in their own. */
    private static void attack(RecordWriter agent, RecordWriter workload) {
        agent.write(TopicCatalogue.NODES, "n1", node(OURS));
        agent.write(TopicCatalogue.NODES, "n1", node(THEIRS, "h1"));
        agent.delete(TopicCatalogue.NODES, "n1");
        workload.write(TopicCatalogue.SERVICES, "chat", declared(OURS, 0.001));
        workload.write(TopicCatalogue.SERVICES, "chat", chat(THEIRS));
        workload.delete(TopicCatalogue.SERVICES, "chat");
        rates(workload, OURS, 2000);
        rates(workload, THEIRS, 2000);
        agent.flush();
        workload.flush();
    }

    private static void nobodyWritesToAnothersTopics(Deployment deployment) throws Exception {
        Map<String, List<Topic<?>>> own = Map.of(
                "workload-team-a",
                List.of(
                        TopicCatalogue.SERVICES,
                        TopicCatalogue.REQUEST_RATES,
                        TopicCatalogue.TRAINING_JOBS,
                        TopicCatalogue.TRAINING_PROGRESS),
                "agent-team-a",
                List.of(TopicCatalogue.NODES, TopicCatalogue.GPU_TELEMETRY, TopicCatalogue.REQUEST_RATES),
                "operator-team-a",
                List.of(TopicCatalogue.CONTROL, TopicCatalogue.QUEUES, TopicCatalogue.DOMAIN_SETTINGS));
        for (String user : own.keySet()) {
            try (var producer =
                    new KafkaProducer<byte[], byte[]>(kafka(deployment, user).producer())) {
                for (Topic<?> topic : TopicCatalogue.OF_INTAKES) {
                    for (String name : List.of(SITE.name(topic), SITE.name(topic, "team-b"))) {
                        assertThatThrownBy(() -> send(producer, name))
                                .as("%s writes to %s", user, name)
                                .hasCauseInstanceOf(AuthorizationException.class);
                    }
                    String ofTheirs = SITE.name(topic, "team-a");
                    if (!own.getOrDefault(user, List.of()).contains(topic)) {
                        assertThatThrownBy(() -> send(producer, ofTheirs))
                                .as("%s writes to %s", user, ofTheirs)
                                .hasCauseInstanceOf(AuthorizationException.class);
                    }
                }
            }
        }
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, String topic) throws Exception {
        producer.send(new ProducerRecord<>(topic, "chat".getBytes(UTF_8), new byte[] {1}))
                .get(30, TimeUnit.SECONDS);
    }

    private static void everythingInOurDomainIsOurs(Deployment deployment) {
        List<DomainEvent> log = deployment.read(TopicCatalogue.DOMAIN_EVENTS).stream()
                .filter(event -> event.domain().equals(OURS))
                .toList();
        assertThat(log.stream()
                        .flatMap(event -> event.origin().stream())
                        .map(Origin::topic)
                        .collect(Collectors.toSet()))
                .contains("lendstream.nodes.team-b", "lendstream.services.team-b", "lendstream.request-rates.team-b")
                .doesNotContain(SITE.name(TopicCatalogue.NODES), SITE.name(TopicCatalogue.SERVICES))
                .noneMatch(topic -> topic.endsWith(".team-a"));
        assertThat(deployment.read(TopicCatalogue.DEMAND_FORECASTS))
                .filteredOn(forecast -> forecast.domain().equals(OURS))
                .flatExtracting(DemandForecast::horizons)
                .allSatisfy(horizon -> assertThat(horizon.p99()).isLessThan(50));
        assertThat(deployment.deadLetters(TopicCatalogue.SERVICES)).isNotEmpty().allSatisfy(letter -> {
            assertThat(Deployment.header(letter, DeadLetters.TOPIC)).isEqualTo("lendstream.services.team-a");
            assertThat(Deployment.header(letter, DeadLetters.ERROR_CLASS))
                    .isEqualTo(ForeignDomainException.class.getName());
        });
        await().atMost(Deployment.PATIENCE)
                .untilAsserted(() -> assertThat(violations(deployment)).isEmpty());
    }

    private static List<String> violations(Deployment deployment) {
        var history = new HistoryChecker(OURS);
        deployment.read(TopicCatalogue.DOMAIN_EVENTS).stream()
                .filter(event -> event.domain().equals(OURS))
                .forEach(history::take);
        deployment.read(TopicCatalogue.ACTUATION_REPORTS).stream()
                .filter(report -> report.domain().equals(OURS))
                .forEach(history::heard);
        return history
                .verdict(
                        deployment.read(TopicCatalogue.DECISIONS).stream()
                                .filter(decision -> decision.id().domain().equals(OURS))
                                .toList(),
                        deployment.read(TopicCatalogue.LEASES).stream()
                                .filter(lease -> lease.domain().equals(OURS))
                                .toList())
                .violations()
                .stream()
                .map(Object::toString)
                .toList();
    }

    private void operatorsAreKnownByTheirGroup(Deployment deployment) throws IOException {
        Printed foreign = command(deployment, "operator-team-a", "freeze", "--as", "team-b", "--domain", "south");
        assertThat(foreign.exit()).isEqualTo(1);
        assertThat(foreign.err()).contains("lendstream.control.team-b");
        Printed beyond = command(deployment, "operator-team-a", "freeze", "--as", "team-a", "--domain", "south");
        assertThat(beyond.exit()).isEqualTo(1);
        assertThat(beyond.err()).contains("group team-a may order only domains east, not south");

        Printed frozen = command(deployment, "operator-team-b", "freeze", "--as", "team-b", "--domain", "south");

        assertThat(frozen.exit()).as(frozen.out() + frozen.err()).isZero();
        assertThat(deployment.read(TopicCatalogue.DOMAIN_EVENTS))
                .filteredOn(event -> event.event() instanceof ControlCommand)
                .extracting(event -> event.origin().map(Origin::topic).orElse(""))
                .containsExactly("lendstream.control.team-b");
        Decision last = deployment.read(TopicCatalogue.DECISIONS).stream()
                .filter(decision -> decision.id().domain().equals(OURS))
                .findFirst()
                .orElseThrow();
        Printed explained =
                command(deployment, "operator-team-b", "explain", last.id().toString());
        assertThat(explained.exit()).as(explained.out() + explained.err()).isZero();
    }

    /** A quota of Kafka by user: the broker throttles this client only. */
    private static void aFloodOfOneTeamIsSlowedDown(Deployment deployment) throws Exception {
        try (Admin admin = Admin.create(deployment.kafka().admin())) {
            admin.alterClientQuotas(List.of(new ClientQuotaAlteration(
                            new ClientQuotaEntity(Map.of(ClientQuotaEntity.USER, "workload-team-a")),
                            List.of(new ClientQuotaAlteration.Op(
                                    "producer_byte_rate", (double) QUOTA_BYTES_PER_SECOND)))))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
        byte[] noise = new byte[20_000];
        new Random(1).nextBytes(noise); // what is all alike is compressed before the broker counts it
        try (var flooding = new KafkaProducer<byte[], byte[]>(
                        kafka(deployment, "workload-team-a").producer());
                var other = new KafkaProducer<byte[], byte[]>(
                        kafka(deployment, "workload-team-b").producer())) {
            await().atMost(Duration.ofMinutes(2)).until(() -> {
                for (int i = 0; i < 10; i++) {
                    flooding.send(new ProducerRecord<>(SITE.name(TopicCatalogue.SERVICES, "team-a"), noise, noise))
                            .get(60, TimeUnit.SECONDS);
                }
                return throttled(flooding) > 0;
            });
            for (int i = 0; i < 10; i++) {
                send(other, SITE.name(TopicCatalogue.SERVICES, "team-b"));
            }

            assertThat(throttled(flooding)).isPositive();
            assertThat(throttled(other)).isZero();
        }
    }

    /** Longest wait that a broker has asked for, in milliseconds. */
    private static double throttled(KafkaProducer<?, ?> producer) {
        return producer.metrics().values().stream()
                .filter(metric -> metric.metricName().name().equals("produce-throttle-time-max"))
                .map(Metric::metricValue)
                .mapToDouble(value -> ((Number) value).doubleValue())
                .filter(value -> !Double.isNaN(value))
                .max()
                .orElse(0);
    }

    private void prepare(Deployment deployment) throws Exception {
        Path home = Installation.find().home();
        for (String folder : List.of("deploy/acl", "deploy/acl/intakes")) {
            Printed applied = command(
                    deployment, "admin", "acls", "apply", home.resolve(folder).toString());
            assertThat(applied.exit()).as(applied.out() + applied.err()).isZero();
        }
        try (Admin admin = Admin.create(deployment.kafka().admin())) {
            new TopicAdmin(admin, SITE).create(1, 1);
        }
        new SchemaSet(
                        new RegistryClient(
                                RegistrySettings.from(deployment.kafka().serdes())),
                        SITE)
                .register();
    }

    private Deployment.Running start(Deployment deployment, ServiceKind kind, String settings) throws IOException {
        Path config = config(kind.command());
        Files.writeString(config, "%n%s%nhealth.port=0%n".formatted(settings), StandardOpenOption.APPEND);
        return deployment.start(
                kind, directory.resolve(kind.command() + ".log"), deployment.with("--config", config.toString()));
    }

    private Printed command(Deployment deployment, String user, String... arguments) throws IOException {
        var all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--config", config(user).toString()));
        return deployment.command(all.toArray(String[]::new));
    }

    private static RecordWriter writer(Deployment deployment, String user, String intake) {
        return RecordWriter.open(
                kafka(deployment, user), Deployment.TOPICS.writingFor(Optional.of(intake)), "/" + user);
    }

    private static KafkaSettings kafka(Deployment deployment, String user) {
        List<String> settings = new ArrayList<>(List.of(
                "kafka.bootstrap.servers=" + deployment.bootstrapServers(),
                "schema.registry.url=" + deployment.registry()));
        client(user).forEach((name, value) -> settings.add("kafka." + name + "=" + value));
        return KafkaSettings.of("test", Settings.of(CommonKeys.ALL, SettingsFile.NONE, Map.of(), settings));
    }

    /** The settings file of a user, with the common settings of the site. */
    private Path config(String user) throws IOException {
        var lines = new ArrayList<>(List.of("intakes=" + INTAKES, "connect-timeout=60s"));
        client(user).forEach((name, value) -> lines.add("kafka.%s=%s".formatted(name, value)));
        return Files.write(directory.resolve(user + ".properties"), lines);
    }

    private static Map<String, String> client(String user) {
        return new TreeMap<>(Map.of(
                "security.protocol",
                "SASL_PLAINTEXT",
                "sasl.mechanism",
                "PLAIN",
                "sasl.jaas.config",
                login(user) + ";"));
    }

    private static String login(String user) {
        return "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"%s\" password=\"%s\""
                .formatted(user, password(user));
    }

    private static String password(String user) {
        return "secret-of-" + user;
    }

    private static Map<String, String> broker() {
        String known = USERS.stream()
                .map(user -> " user_%s=\"%s\"".formatted(user, password(user)))
                .collect(Collectors.joining());
        var properties = new TreeMap<String, String>();
        properties.put("listener.security.protocol.map", "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT");
        properties.put("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer");
        properties.put("super.users", "User:broker;User:admin");
        properties.put("allow.everyone.if.no.acl.found", "false");
        properties.put("sasl.enabled.mechanisms", "PLAIN");
        properties.put("sasl.mechanism.inter.broker.protocol", "PLAIN");
        properties.put("sasl.mechanism.controller.protocol", "PLAIN");
        properties.put("listener.name.controller.sasl.enabled.mechanisms", "PLAIN");
        for (String listener : List.of("plaintext", "controller")) {
            properties.put(
                    "listener.name.%s.plain.sasl.jaas.config".formatted(listener), login("broker") + known + ";");
        }
        return properties;
    }

    private static Node node(DomainId domain, String... gpus) {
        List<Gpu> inventory = new ArrayList<>();
        for (String gpu : gpus) {
            inventory.add(Gpu.whole(new GpuId(gpu), inventory.size(), "A100", 80L << 30));
        }
        return new Node(new NodeId("n1"), domain, Pool.INFERENCE, "boot", now(), NodeStatus.READY, inventory);
    }

    private static InferenceService chat(DomainId domain) {
        return declared(domain, 10);
    }

    private static InferenceService declared(DomainId domain, double perSecond) {
        return new InferenceService(
                CHAT,
                domain,
                now(),
                List.of("chat"),
                Duration.ofMillis(400),
                perSecond,
                Optional.empty(),
                1,
                Duration.ofSeconds(2));
    }

    /** Of the last five minutes, so many requests a second. */
    private static void rates(RecordWriter writer, DomainId domain, int perSecond) {
        Instant last = now();
        for (int window = 20; window > 0; window--) {
            Instant end = last.minus(WINDOW.multipliedBy(window - 1L));
            long requests = perSecond * WINDOW.toSeconds();
            writer.write(
                    TopicCatalogue.REQUEST_RATES,
                    CHAT.value(),
                    new RequestRate(
                            CHAT,
                            domain,
                            "gateway",
                            "boot-" + last,
                            21L - window,
                            end.minus(WINDOW),
                            end,
                            RequestRate.Requests.answered(requests),
                            RequestRate.Latency.NOT_MEASURED,
                            List.of(),
                            List.of()));
        }
        writer.flush();
    }

    private static Instant now() {
        return Instant.now().truncatedTo(ChronoUnit.MILLIS);
    }
}

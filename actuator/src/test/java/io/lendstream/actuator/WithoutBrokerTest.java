package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.actuator.standby.Active;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.ServiceContext;
import io.lendstream.service.Stop;
import io.lendstream.service.fake.FakeBroker;
import io.lendstream.service.fake.FakeBroker.Outage;
import io.lendstream.service.health.Health;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An actuator whose broker goes away while a GPU is lent until 12:05, with ten seconds of notice. */
@Timeout(120)
class WithoutBrokerTest {
    private static final DomainId DOMAIN = new DomainId("d");
    private static final JobId JOB = new JobId("job");
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final Duration LONGEST_TURN = Duration.ofSeconds(1);

    private final FakeBroker broker = new FakeBroker();
    private final FakeClients clients = new FakeClients(broker);
    private final Health health = new Health();
    private final List<BackgroundTransport> open = new ArrayList<>();
    private volatile Instant now = NOON;

    @TempDir
    Path folder;

    @BeforeEach
    void aLoan() {
        broker.publish(TopicCatalogue.NODES, "n1", node("n1", Pool.TRAINING, List.of("t1")));
        broker.publish(TopicCatalogue.NODES, "n2", node("n2", Pool.INFERENCE, List.of("i1")));
        decide(1, new Action.Resize(JOB, gpus("t1"), allocation("t1")));
        decide(2, new Action.Lend(JOB, gpus("i1"), NOON.plusSeconds(300), allocation("t1", "i1")));
    }

    @AfterEach
    void close() {
        open.forEach(BackgroundTransport::close);
    }

    @Test
    void goesOnWhenTheBrokerGoesAndReportsInOrderAndOnceWhenItIsBack() {
        ActuatorService actuator = started(clients);
        turnAt(actuator, 0);
        turnAt(actuator, 60);
        awaitReports(6);

        broker.outage(Outage.AWAY);
        turnAt(actuator, 301);
        turnAt(actuator, 320);
        assertThat(actuator.actuation().holdings()).hasSize(1);
        broker.outage(Outage.NONE);

        awaitReports(7);
        assertThat(outcomes()).endsWith("2 RELEASED i1").doesNotHaveDuplicates();
    }

    /** A directory in place of the file stands for a disk that takes nothing. */
    @Test
    void whileItsStateCannotBeWrittenLeasesEndAndItSaysSo() throws IOException {
        ActuatorService actuator = started(clients);
        turnAt(actuator, 0);
        turnAt(actuator, 60);
        awaitReports(6);
        Path inTheWay = Files.createDirectories(folder.resolve("actuator.avro.new/full"));

        turnAt(actuator, 301);
        turnAt(actuator, 320);
        awaitReports(7);
        turnAt(actuator, 321);
        assertThat(outcomes()).endsWith("2 RELEASED i1").doesNotHaveDuplicates();
        assertThat(health.whyNotReady())
                .hasValueSatisfying(why -> assertThat(why).contains("actuator.state-dir", "free disk space"));
        assertThat(health.whyDead()).isEmpty();

        Files.delete(inTheWay);
        Files.delete(inTheWay.getParent());
        turnAt(actuator, 330);
        turnAt(actuator, 331);
        assertThat(health.whyNotReady()).isEmpty();
    }

    @Test
    void startsFromItsStateWithoutABrokerAndTakesBackWhatWasLent() {
        lendAndStop();
        broker.outage(Outage.AWAY);

        ActuatorService alone = started(clients);
        turnAt(alone, 301);
        turnAt(alone, 320);

        assertThat(alone.actuation().holdings())
                .extracting(holding -> holding.gpu().value())
                .containsExactly("t1");
        assertThat(health.whyNotReady())
                .hasValueSatisfying(why -> assertThat(why).contains("fake:9092"));
        assertThat(health.whyDead()).isEmpty();

        broker.outage(Outage.NONE);
        awaitTurning(alone, 7);
        assertThat(outcomes()).endsWith("2 RELEASED i1").doesNotHaveDuplicates();
        await().untilAsserted(() -> {
            alone.turn(Duration.ZERO);
            assertThat(health.whyNotReady()).isEmpty();
        });
    }

    @Test
    void aRestartWhileTheBrokerIsAwayLosesNoReportAndRepeatsNone() {
        lendAndStop();
        broker.outage(Outage.AWAY);
        ActuatorService killed = started(clients);
        turnAt(killed, 301);
        turnAt(killed, 320);
        open.forEach(BackgroundTransport::close);

        ActuatorService next = started(clients);
        turnAt(next, 330);
        broker.outage(Outage.NONE);
        awaitTurning(next, 7);

        assertThat(outcomes()).endsWith("2 RELEASED i1").doesNotHaveDuplicates();
    }

    @Test
    void whatWasWrittenButNotAcknowledgedIsNotWrittenAgainAfterARestart() {
        lendAndStop();
        ActuatorService killed = started(clients);
        broker.outage(Outage.ACKNOWLEDGEMENTS_LOST);
        turnAt(killed, 301);
        turnAt(killed, 320);
        awaitReports(7);
        open.forEach(BackgroundTransport::close);
        broker.outage(Outage.NONE);

        ActuatorService next = started(clients);
        turnAt(next, 400);
        decide(3, new Action.Resize(JOB, gpus("t1"), allocation()));
        awaitTurning(next, 8);

        assertThat(outcomes()).contains("2 RELEASED i1", "3 ACCEPTED t1").doesNotHaveDuplicates();
    }

    @Test
    void everyWriterOfOneStateHasOneNameByWhichItsPredecessorIsFenced() {
        lendAndStop();
        ActuatorService next = started(clients);
        decide(3, new Action.Resize(JOB, gpus("t1"), allocation()));
        turnAt(next, 400);
        awaitTurning(next, 8);

        assertThat(clients.transactionalIds()).hasSizeGreaterThanOrEqualTo(2);
        assertThat(clients.transactionalIds().stream().distinct())
                .singleElement()
                .satisfies(name -> assertThat(name).startsWith("lendstream.actuator-"));
    }

    @Test
    void withoutAStateItWaitsForTheBroker() throws InterruptedException {
        broker.outage(Outage.AWAY);
        var starting = new Thread(() -> started(clients));
        starting.start();
        await().untilAsserted(() -> assertThat(open).hasSize(1));
        await().untilAsserted(() -> assertThat(open.get(0).trouble())
                .hasValueSatisfying(why -> assertThat(why).contains("fake:9092")));
        assertThat(starting.isAlive()).isTrue();

        broker.outage(Outage.NONE);
        starting.join(30_000);
        assertThat(starting.isAlive()).isFalse();
    }

    @Test
    void aStateOfAVersionThatCouldNotStartAloneIsEnoughToStartAlone() {
        startedDirectly().finish();
        broker.outage(Outage.AWAY);

        ActuatorService alone = started(clients);
        turnAt(alone, 301);
        turnAt(alone, 320);

        assertThat(alone.actuation().holdings())
                .extracting(holding -> holding.gpu().value())
                .containsExactly("t1");
        broker.outage(Outage.NONE);
        awaitTurning(alone, 7);
        assertThat(outcomes()).doesNotHaveDuplicates();
    }

    /** Kafka's own clients, with an address at which nothing listens. */
    @Test
    void noTurnLastsLongerThanLeasesMayWaitForIt() {
        lendAndStop();
        Settings settings = Settings.of(
                CommonKeys.ALL,
                "kafka.bootstrap.servers=127.0.0.1:1",
                "schema.registry.url=http://127.0.0.1:1",
                "connect-timeout=500ms");
        var context = new ServiceContext(
                ServiceName.ACTUATOR,
                settings,
                KafkaSettings.of("actuator", settings),
                FakeBroker.TOPICS,
                health,
                new PrometheusMeterRegistry(PrometheusConfig.DEFAULT),
                new Stop());
        try (var unreachable = new KafkaClients(context, "actuator", ActuatorService.TOPICS)) {
            ActuatorService alone = started(unreachable);
            Duration longest = Duration.ZERO;
            for (int second = 290; second < 330; second++) {
                long begun = System.nanoTime();
                turnAt(alone, second);
                Duration turn = Duration.ofNanos(System.nanoTime() - begun);
                longest = longest.compareTo(turn) > 0 ? longest : turn;
            }

            assertThat(longest).isLessThan(LONGEST_TURN);
            assertThat(alone.actuation().holdings()).hasSize(1);
        }
    }

    @Test
    void stockOfAHundredThousandUnitsIsInRecordsThatEveryBrokerTakes() {
        List<String> units = IntStream.range(0, 100_000)
                .mapToObj("GPU-00000000-0000-0000-0000-%012d"::formatted)
                .toList();
        for (int node = 0; node < 100; node++) {
            String name = "big-" + node;
            broker.publish(
                    TopicCatalogue.NODES,
                    name,
                    node(name, Pool.INFERENCE, units.subList(node * 1000, (node + 1) * 1000)));
        }
        ActuatorService actuator = started(clients);
        turnAt(actuator, 0);
        turnAt(actuator, 61);

        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(stocked()).hasSize(100_002));
        assertThat(broker.log("lendstream.actuation-reports"))
                .allSatisfy(record -> assertThat(record.value().length).isLessThan(512 << 10));
        assertThat(stocked()).doesNotHaveDuplicates();
    }

    private List<String> stocked() {
        return broker.values(TopicCatalogue.ACTUATION_REPORTS).stream()
                .filter(report -> report.outcome() == Outcome.HOLDS)
                .flatMap(report -> report.gpus().stream())
                .map(GpuId::value)
                .toList();
    }

    private void lendAndStop() {
        ActuatorService first = started(clients);
        turnAt(first, 0);
        turnAt(first, 60);
        awaitReports(6);
        first.finish();
        open.forEach(BackgroundTransport::close);
        open.clear();
    }

    /** One that reads and writes at once, as all did once. */
    private ActuatorService startedDirectly() {
        ActuatorSettings settings = settings();
        var writer = broker.writer("actuator");
        var transport =
                new DirectTransport(settings.name(), broker.reader(writer), writer, () -> broker.reader(writer));
        ActuatorService actuator = started(settings, transport);
        turnAt(actuator, 0);
        turnAt(actuator, 60);
        return actuator;
    }

    private ActuatorService started(Clients by) {
        var transport = new BackgroundTransport(
                "actuator",
                by,
                Duration.ofMillis(500),
                new BackgroundTransport.Writers("lendstream.actuator-", true, Active.ALONE),
                new ReportOutbox());
        open.add(transport);
        return started(settings(), transport);
    }

    private ActuatorSettings settings() {
        return ActuatorSettings.of(
                Settings.of(ActuatorSettings.KEYS, "actuator.state-dir=" + folder, "actuator.lease-notice=10s"));
    }

    private ActuatorService started(ActuatorSettings settings, RecordTransport transport) {
        var actuator = ActuatorService.byWallClock(settings, transport, health, new SimpleMeterRegistry(), () -> now);
        actuator.start(() -> false);
        return actuator;
    }

    private void turnAt(ActuatorService actuator, double second) {
        now = NOON.plusMillis(Math.round(second * 1000));
        actuator.turn(Duration.ZERO);
    }

    private void awaitReports(int count) {
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(outcomes()).hasSize(count));
    }

    /** Turns until so many reports are on the topic. */
    private void awaitTurning(ActuatorService actuator, int count) {
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            actuator.turn(Duration.ZERO);
            assertThat(outcomes()).hasSizeGreaterThanOrEqualTo(count);
        });
    }

    private List<String> outcomes() {
        return broker.values(TopicCatalogue.ACTUATION_REPORTS).stream()
                .filter(report -> report.outcome() != Outcome.HOLDS)
                .map(report -> "%d %s %s"
                        .formatted(
                                report.decision().sequence(),
                                report.outcome(),
                                String.join(
                                        ",",
                                        report.gpus().stream().map(GpuId::value).toList())))
                .toList();
    }

    private void decide(long sequence, Action action) {
        broker.publish(
                TopicCatalogue.DECISIONS,
                "d",
                new Decision(
                        new DecisionId(DOMAIN, 1, sequence),
                        NOON,
                        NOON.plusSeconds(600),
                        false,
                        new Reason("plan", "", Map.of(), List.of()),
                        action));
    }

    private static Allocation allocation(String... gpus) {
        return new Allocation(gpus(gpus), 10, 0, 1, Mechanism.AFE);
    }

    private static List<GpuId> gpus(String... names) {
        return java.util.Arrays.stream(names).map(GpuId::new).toList();
    }

    private static Node node(String name, Pool pool, List<String> gpus) {
        var inventory = new ArrayList<Gpu>();
        for (String gpu : gpus) {
            inventory.add(Gpu.whole(new GpuId(gpu), inventory.size(), "A100", 80L << 30));
        }
        return new Node(new NodeId(name), DOMAIN, pool, "boot", NOON, NodeStatus.READY, inventory);
    }
}

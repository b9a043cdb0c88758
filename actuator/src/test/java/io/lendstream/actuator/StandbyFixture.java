package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.actuator.driver.Driver;
import io.lendstream.actuator.driver.DriverListener;
import io.lendstream.actuator.standby.Active;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.fake.FakeBroker;
import io.lendstream.service.health.Health;
import io.lendstream.service.settings.Settings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two instances of one actuator, one, and two, with a job on t1 that has i1 on loan until 12:05, with ten seconds of notice. */
@Timeout(120)
abstract class StandbyFixture {
    static final DomainId DOMAIN = new DomainId("d");
    static final JobId JOB = new JobId("job");
    static final ServiceId CHAT = new ServiceId("chat");
    static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    final FakeBroker broker = new FakeBroker();
    final FakeClients clients = new FakeClients(broker);
    final List<BackgroundTransport> open = new ArrayList<>();
    final Queue<String> orders = new ConcurrentLinkedQueue<>();
    final AtomicBoolean hasDropped = new AtomicBoolean();
    final Tenure tenure = new Tenure();
    volatile Instant now = NOON;

    @TempDir
    Path folder;

    /** Whether the instance is active, as the test says. */
    static final class Tenure implements Active {
        volatile boolean mayStart = true;

        @Override
        public boolean mayStart() {
            return mayStart;
        }

        @Override
        public boolean isFenced() {
            return true;
        }

        @Override
        public void fence(Producer<byte[], byte[]> transaction) {}
    }

    /** Executes each order at once. */
    private final class ObedientDriver implements Driver {
        private final DriverListener heard;

        ObedientDriver(DriverListener heard) {
            this.heard = heard;
        }

        @Override
        public void take(Order order) {
            if (order instanceof Order.Place place) {
                orders.add("%d %s %s".formatted(place.decision().sequence(), place.tenant(), names(place.units())));
                if (!place.leaving().isEmpty()) {
                    heard.tell(new DriverEvent.Stopped(place.tenant(), place.leaving(), false, ""));
                }
                heard.tell(new DriverEvent.Started(place.tenant(), place.units()));
                heard.tell(new DriverEvent.InForce(place.tenant(), place.decision()));
            }
        }

        @Override
        public boolean hasDroppedOrders() {
            return hasDropped.getAndSet(false);
        }

        @Override
        public List<String> plan(Order order) {
            return List.of();
        }

        @Override
        public List<String> complaints() {
            return List.of();
        }

        @Override
        public void close() {}
    }

    @BeforeEach
    void aLoan() {
        broker.publish(TopicCatalogue.NODES, "n1", node("n1", Pool.TRAINING, "t1"));
        broker.publish(TopicCatalogue.NODES, "n2", node("n2", Pool.INFERENCE, "i1", "i2"));
        decide(1, new Action.Resize(JOB, gpus("t1"), allocation("t1")));
        decide(2, lend());
    }

    @AfterEach
    void close() {
        open.forEach(BackgroundTransport::close);
    }

    ActuatorService started(String instance) {
        ActuatorService actuator = service(instance, tenure);
        actuator.start(() -> false);
        return actuator;
    }

    void follow(String instance) {
        service(instance, Active.STANDBY).follow(() -> false);
        open.remove(open.size() - 1).close();
    }

    ActuatorService service(String instance, Active active) {
        var transport = new BackgroundTransport(
                "actuator",
                clients,
                Duration.ofMillis(500),
                new BackgroundTransport.Writers("lendstream.actuator-", true, active),
                new ReportOutbox());
        open.add(transport);
        return ActuatorService.byWallClock(
                settings(instance), transport, active, new Health(), new SimpleMeterRegistry(), () -> now);
    }

    ActuatorSettings settings(String instance) {
        ActuatorSettings given = ActuatorSettings.of(Settings.of(
                ActuatorSettings.KEYS,
                "actuator.standby=true",
                "actuator.state-dir=" + folder.resolve(instance),
                "actuator.lease-notice=10s"));
        return new ActuatorSettings(
                given.name(),
                given.domains(),
                given.scope(),
                true,
                given.stateDir(),
                DriverKind.WEBHOOK,
                false,
                given.leaseNotice(),
                given.stockEvery(),
                given.abilities(),
                new Driven(
                        DriverKind.WEBHOOK, true, Abilities.USUAL, (surroundings, heard) -> new ObedientDriver(heard)));
    }

    ActuatorState saved(String instance) {
        return StateFile.in(folder.resolve(instance)).load().orElseThrow();
    }

    boolean isContradicted(String instance) {
        return OwnReports.contradict(saved(instance), clients.reportReader(), () -> false);
    }

    void killed() {
        open.forEach(BackgroundTransport::close);
        open.clear();
    }

    void turnAt(ActuatorService actuator, int second) {
        now = NOON.plusSeconds(second);
        actuator.turn(Duration.ZERO);
    }

    void awaitTurning(ActuatorService actuator, String outcome) {
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            actuator.turn(Duration.ZERO);
            assertThat(outcomes()).contains(outcome);
        });
    }

    void awaitStock(ActuatorService actuator, int second) {
        turnAt(actuator, second);
        await().until(() -> broker.values(TopicCatalogue.ACTUATION_REPORTS).stream()
                .anyMatch(report -> report.outcome() == Outcome.HOLDS));
    }

    void forgetReports(int oldest) {
        broker.log("lendstream.actuation-reports").subList(0, oldest).clear();
    }

    /** Waits until the instance has the decision in its queue. */
    void awaitRead(long sequence) {
        await().until(() -> open.get(0).decisions().containsValue(sequence) || read(sequence));
    }

    boolean read(long sequence) {
        open.get(0).poll(Duration.ofMillis(10));
        return open.get(0).decisions().containsValue(sequence);
    }

    List<String> outcomes() {
        return broker.values(TopicCatalogue.ACTUATION_REPORTS).stream()
                .filter(report -> report.outcome() != Outcome.HOLDS)
                .map(report ->
                        "%d %s %s".formatted(report.decision().sequence(), report.outcome(), names(report.gpus())))
                .toList();
    }

    static String names(List<GpuId> gpus) {
        return String.join(",", gpus.stream().map(GpuId::value).toList());
    }

    static Action lend() {
        return new Action.Lend(JOB, gpus("i1"), NOON.plusSeconds(300), allocation("t1", "i1"));
    }

    void decide(long sequence, Action action) {
        broker.publish(
                TopicCatalogue.DECISIONS,
                "d",
                new Decision(
                        new DecisionId(DOMAIN, 1, sequence),
                        now,
                        now.plusSeconds(600),
                        false,
                        new Reason("plan", "", Map.of(), List.of()),
                        action));
    }

    static Allocation allocation(String... gpus) {
        return new Allocation(gpus(gpus), 10, 0, 1, Mechanism.AFE);
    }

    static List<GpuId> gpus(String... names) {
        return Arrays.stream(names).map(GpuId::new).toList();
    }

    static Node node(String name, Pool pool, String... gpus) {
        var inventory = new ArrayList<Gpu>();
        for (String gpu : gpus) {
            inventory.add(Gpu.whole(new GpuId(gpu), inventory.size(), "A100", 80L << 30));
        }
        return new Node(new NodeId(name), DOMAIN, pool, "boot", NOON, NodeStatus.READY, inventory);
    }
}

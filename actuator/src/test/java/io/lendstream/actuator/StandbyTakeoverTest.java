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
import io.lendstream.service.fake.FakeBroker.Outage;
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
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two instances of one actuator, one, and two, with a job on t1 that has i1 on loan until 12:05, with ten seconds of notice. */
@Timeout(120)
class StandbyTakeoverTest {
    private static final DomainId DOMAIN = new DomainId("d");
    private static final JobId JOB = new JobId("job");
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final FakeBroker broker = new FakeBroker();
    private final FakeClients clients = new FakeClients(broker);
    private final List<BackgroundTransport> open = new ArrayList<>();
    private final Queue<String> orders = new ConcurrentLinkedQueue<>();
    private final Tenure tenure = new Tenure();
    private volatile Instant now = NOON;

    @TempDir
    Path folder;

    /** Whether the instance is active, as the test says. */
    private static final class Tenure implements Active {
        private volatile boolean mayStart = true;

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

    @Test
    void whileAnotherInstanceMayBeActiveItTakesNoDecisionAndGpusOnLoanBack() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        tenure.mayStart = false;
        decide(3, new Action.Serve(CHAT, gpus("i2"), false));
        awaitRead(3);
        orders.clear();

        turnAt(one, 301);
        turnAt(one, 302);

        assertThat(orders).containsExactly("2 job job t1");
        assertThat(one.actuation().heldGpus()).isEqualTo(1);
        assertThat(outcomes()).noneMatch(outcome -> outcome.startsWith("3 ") || outcome.contains("RELEASED"));

        tenure.mayStart = true;
        orders.clear();
        awaitTurning(one, "3 BOUND i2");
        assertThat(orders).containsExactly("2 job job t1", "3 service chat i2");
        assertThat(outcomes()).contains("2 RELEASED i1").doesNotHaveDuplicates();
    }

    @Test
    void anInstanceWithoutStateGoesOnFromTheTopicsWithTheLeasesOfTheOther() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        List<String> before = outcomes();
        killed();
        orders.clear();

        ActuatorService two = started("two");
        assertThat(two.actuation().heldGpus()).isEqualTo(2);
        assertThat(orders).containsExactly("2 job job i1,t1");
        turnAt(two, 10);
        decide(3, new Action.Serve(CHAT, gpus("i2"), false));
        awaitTurning(two, "3 BOUND i2");
        assertThat(outcomes()).containsAll(before).hasSize(before.size() + 3).doesNotHaveDuplicates();

        turnAt(two, 301);
        awaitTurning(two, "2 RELEASED i1");
        assertThat(outcomes()).doesNotHaveDuplicates();
    }

    /** The topics keep 30 days; a replica may run longer without a decision. */
    @Test
    void tenantsOfForgottenDecisionsAreKnownFromTheOldestStock() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        awaitStock(one, 62);
        killed();
        broker.log("lendstream.decisions").clear();
        forgetReports(outcomes().size());
        assertThat(outcomes()).isEmpty();
        orders.clear();

        ActuatorService two = started("two");
        assertThat(two.actuation().heldGpus()).isEqualTo(2);
        assertThat(orders).containsExactly("2 job job i1,t1");
        decide(3, new Action.Resize(JOB, gpus(), allocation()));
        awaitTurning(two, "3 RELEASED i1,t1");
    }

    /** Topics are deleted by segments, so decisions may reach back further than reports. */
    @Test
    void decisionsWhoseAnswersAreGoneAreNotTakenAgain() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        awaitStock(one, 62);
        forgetReports(outcomes().size());
        decide(3, new Action.Serve(CHAT, gpus("i2"), false));
        awaitTurning(one, "3 APPLIED i2");
        List<String> before = outcomes();
        killed();
        orders.clear();

        ActuatorService two = started("two");
        turnAt(two, 63);
        turnAt(two, 64);
        assertThat(orders).containsExactlyInAnyOrder("2 job job i1,t1", "3 service chat i2");
        decide(4, new Action.Resize(JOB, gpus(), allocation()));
        awaitTurning(two, "4 RELEASED i1,t1");
        assertThat(outcomes()).startsWith(before.toArray(String[]::new)).doesNotHaveDuplicates();
        assertThat(outcomes()).filteredOn(each -> !each.startsWith("4")).isEqualTo(before);
    }

    @Test
    void aLoanThatIsKnownFromAStockHasTheLeaseOfItsRenewals() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        awaitStock(one, 62);
        forgetReports(outcomes().size());
        decide(3, new Action.Renew(gpus("i1"), NOON.plusSeconds(8000)));
        awaitTurning(one, "3 APPLIED i1");
        turnAt(one, 7000);
        decide(4, new Action.Renew(gpus("i1"), NOON.plusSeconds(9000)));
        awaitTurning(one, "4 APPLIED i1");
        killed();
        broker.log("lendstream.decisions").subList(0, 3).clear();
        orders.clear();

        ActuatorService two = started("two");
        turnAt(two, 8999);
        assertThat(orders).containsExactly("2 job job i1,t1");
        assertThat(outcomes()).noneMatch(outcome -> outcome.contains("RELEASED"));
        turnAt(two, 9000);
        turnAt(two, 9001);
        assertThat(orders).contains("2 job job t1");
    }

    @Test
    void theLastTenantBeforeTheFirstKnownDecisionCounts() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        awaitStock(one, 62);
        decide(3, new Action.Resize(JOB, gpus("t1"), allocation("t1")));
        awaitTurning(one, "3 RELEASED i1");
        turnAt(one, 63);
        decide(4, new Action.Serve(CHAT, gpus("i1"), false));
        awaitTurning(one, "4 APPLIED i1");
        killed();
        broker.log("lendstream.decisions").clear();
        orders.clear();

        ActuatorService two = started("two");
        assertThat(two.actuation().heldGpus()).isEqualTo(2);
        assertThat(orders).containsExactlyInAnyOrder("1 job job t1", "4 service chat i1");
    }

    @Test
    void anInstanceOnStandbyFollowsWithoutOrdersAndReportsAndTakesOverFromThere() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        List<String> before = outcomes();
        orders.clear();

        follow("two");
        assertThat(orders).isEmpty();
        assertThat(outcomes()).isEqualTo(before);
        assertThat(saved("two").actuation().holdings()).hasSize(2);
        assertThat(saved("two").outbox().reports()).isEmpty();

        decide(3, new Action.Serve(CHAT, gpus("i2"), false));
        awaitTurning(one, "3 APPLIED i2");
        killed();
        assertThat(isContradicted("two")).isFalse();

        ActuatorService two = started("two");
        assertThat(two.actuation().heldGpus()).isEqualTo(3);
        turnAt(two, 301);
        awaitTurning(two, "2 RELEASED i1");
        assertThat(outcomes()).doesNotHaveDuplicates();
    }

    @Test
    void aDecisionThatIsAnsweredWhileAnInstanceOnStandbyReadsTheReportsIsNotTakenAgain() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        clients.beforeReports(() -> {
            clients.beforeReports(() -> {});
            decide(3, new Action.Serve(CHAT, gpus("i2"), false));
            awaitTurning(one, "3 APPLIED i2");
        });
        follow("two");
        List<String> before = outcomes();
        killed();
        orders.clear();
        assertThat(saved("two").actuation().holdings()).hasSize(3);

        ActuatorService two = started("two");
        turnAt(two, 2);
        turnAt(two, 301);
        awaitTurning(two, "2 RELEASED i1");
        assertThat(outcomes()).startsWith(before.toArray(String[]::new)).hasSize(before.size() + 1);
    }

    @Test
    void aStateOfWhichReportsWereNeverSentCountsUnlessAnotherInstanceHasReportedSince() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        broker.outage(Outage.AWAY);
        turnAt(one, 301);
        turnAt(one, 302);
        killed();
        broker.outage(Outage.NONE);
        assertThat(saved("one").outbox().reports()).hasSize(1);
        assertThat(isContradicted("one")).isFalse();

        ActuatorService two = started("two");
        turnAt(two, 303);
        awaitTurning(two, "2 RELEASED i1");

        assertThat(isContradicted("one")).isTrue();
        assertThat(isContradicted("two")).isFalse();
    }

    @Test
    void allInstancesHaveOneWriterWhichTheNextOneFences() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        killed();
        ActuatorService two = started("two");
        turnAt(two, 301);
        awaitTurning(two, "2 RELEASED i1");

        assertThat(clients.transactionalIds())
                .hasSizeGreaterThanOrEqualTo(2)
                .containsOnly("lendstream.actuator-actuator");
    }

    private ActuatorService started(String instance) {
        ActuatorService actuator = service(instance, tenure);
        actuator.start(() -> false);
        return actuator;
    }

    private void follow(String instance) {
        service(instance, Active.STANDBY).follow(() -> false);
        open.remove(open.size() - 1).close();
    }

    private ActuatorService service(String instance, Active active) {
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

    private ActuatorSettings settings(String instance) {
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

    private ActuatorState saved(String instance) {
        return StateFile.in(folder.resolve(instance)).load().orElseThrow();
    }

    private boolean isContradicted(String instance) {
        return OwnReports.contradict(saved(instance), clients.reportReader(), () -> false);
    }

    private void killed() {
        open.forEach(BackgroundTransport::close);
        open.clear();
    }

    private void turnAt(ActuatorService actuator, int second) {
        now = NOON.plusSeconds(second);
        actuator.turn(Duration.ZERO);
    }

    private void awaitTurning(ActuatorService actuator, String outcome) {
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            actuator.turn(Duration.ZERO);
            assertThat(outcomes()).contains(outcome);
        });
    }

    private void awaitStock(ActuatorService actuator, int second) {
        turnAt(actuator, second);
        await().until(() -> broker.values(TopicCatalogue.ACTUATION_REPORTS).stream()
                .anyMatch(report -> report.outcome() == Outcome.HOLDS));
    }

    private void forgetReports(int oldest) {
        broker.log("lendstream.actuation-reports").subList(0, oldest).clear();
    }

    /** Waits until the instance has the decision in its queue. */
    private void awaitRead(long sequence) {
        await().until(() -> open.get(0).decisions().containsValue(sequence) || read(sequence));
    }

    private boolean read(long sequence) {
        open.get(0).poll(Duration.ofMillis(10));
        return open.get(0).decisions().containsValue(sequence);
    }

    private List<String> outcomes() {
        return broker.values(TopicCatalogue.ACTUATION_REPORTS).stream()
                .filter(report -> report.outcome() != Outcome.HOLDS)
                .map(report ->
                        "%d %s %s".formatted(report.decision().sequence(), report.outcome(), names(report.gpus())))
                .toList();
    }

    private static String names(List<GpuId> gpus) {
        return String.join(",", gpus.stream().map(GpuId::value).toList());
    }

    private static Action lend() {
        return new Action.Lend(JOB, gpus("i1"), NOON.plusSeconds(300), allocation("t1", "i1"));
    }

    private void decide(long sequence, Action action) {
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

    private static Allocation allocation(String... gpus) {
        return new Allocation(gpus(gpus), 10, 0, 1, Mechanism.AFE);
    }

    private static List<GpuId> gpus(String... names) {
        return Arrays.stream(names).map(GpuId::new).toList();
    }

    private static Node node(String name, Pool pool, String... gpus) {
        var inventory = new ArrayList<Gpu>();
        for (String gpu : gpus) {
            inventory.add(Gpu.whole(new GpuId(gpu), inventory.size(), "A100", 80L << 30));
        }
        return new Node(new NodeId(name), DOMAIN, pool, "boot", NOON, NodeStatus.READY, inventory);
    }
}

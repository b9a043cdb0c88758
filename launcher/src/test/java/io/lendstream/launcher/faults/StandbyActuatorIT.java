package io.lendstream.launcher.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.stack.Installation;
import io.lendstream.stack.Stack;
import io.lendstream.stack.StackSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two instances of one actuator: one is killed, stopped or cut off from the broker, and the other one takes over. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class StandbyActuatorIT {
    private static final JobId JOB = new JobId("job");
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final String ACTIVE = "is the active instance now";
    private static final String STANDBY = "this instance stays on standby";

    private final Stack stack = Stack.start(StackSettings.defaults(), Installation.find(), line -> {});

    @TempDir
    private Path directory;

    /** A scenario of a site, whose logs are printed if it fails. */
    private interface Scenario {
        void play() throws Exception;
    }

    private static void play(Site site, Scenario scenario) throws Exception {
        try {
            scenario.play();
        } catch (Exception | AssertionError e) {
            site.printLogs(60);
            throw e;
        }
    }

    @AfterAll
    void stop() {
        stack.close();
    }

    @Test
    void aStandbyTakesOverFromAKilledActuatorAndFromAStoppedOne() throws Exception {
        try (OrderedCluster cluster = OrderedCluster.start();
                Site site = site("killed", Site.Kafka.at(stack.bootstrapServers(), 1))) {
            play(site, () -> killedAndStopped(site, cluster));
        }
    }

    private static void killedAndStopped(Site site, OrderedCluster cluster) throws Exception {
        declare(site, "webhook");
        Instance first = started(site, cluster, "one");
        awaitSaid(first, ACTIVE);
        Site.awaitReady(first);
        Instance second = started(site, cluster, "two");
        awaitSaid(second, STANDBY);
        Site.awaitReady(second);
        site.decide(1, resize("t1"));
        site.decide(2, lend(Instant.now().plusSeconds(20), "t1", "i1"));
        awaitReport(site, "2 BOUND i1");

        first.kill();
        site.decide(3, serve("i2"));
        long killed = cluster.millisUntil("3 place chat i2");
        awaitReport(site, "2 RELEASED i1");
        assertThat(cluster.tenants()).containsOnlyKeys("t1", "i2");

        Instance third = started(site, cluster, "one");
        awaitSaid(third, STANDBY);
        site.decide(4, serve("i1"));
        awaitReport(site, "4 BOUND i1");
        second.stop();
        site.decide(5, resize());
        long stopped = cluster.millisUntil("5 place job ");
        awaitReport(site, "5 APPLIED ");
        assertThat(third.printed()).contains(ACTIVE).doesNotContain("rebuilt from the topics");

        assertThat(cluster.violations()).isEmpty();
        assertThat(cluster.tenants()).isEqualTo(Map.of("i1", "chat", "i2", "chat"));
        assertThat(reports(site))
                .contains("1 ACCEPTED t1", "2 ACCEPTED i1", "3 ACCEPTED i2", "4 ACCEPTED i1", "5 ACCEPTED t1")
                .doesNotHaveDuplicates()
                .noneMatch(report -> report.contains("REJECTED"));
        System.out.printf(
                "standby: an order of the new instance %d ms after a kill, %d ms after a stop%n", killed, stopped);
    }

    @Test
    void anActuatorThatIsCutOffStartsNothingTakesLentGpusBackAndIsReplaced() throws Exception {
        try (OrderedCluster cluster = OrderedCluster.start();
                Brokers brokers = Brokers.start(Installation.find(), directory.resolve("cut-broker"), 1, Map.of());
                Site site = site("cut", Site.Kafka.at(brokers.bootstrapServers(), 1))) {
            play(site, () -> cutOff(site, cluster, brokers));
        }
    }

    private static void cutOff(Site site, OrderedCluster cluster, Brokers brokers) throws Exception {
        declare(site, "webhook");
        Instance first = started(site, cluster, "one", "kafka.bootstrap.servers=" + brokers.hiddenBootstrapServers());
        awaitSaid(first, ACTIVE);
        Site.awaitReady(first);
        Instance second = started(site, cluster, "two");
        awaitSaid(second, STANDBY);
        site.decide(1, resize("t1"));
        site.decide(2, lend(Instant.now().plusSeconds(25), "t1", "i1"));
        awaitReport(site, "2 BOUND i1");

        brokers.proxy().block();
        site.decide(3, serve("i2"));
        long cut = cluster.millisUntil("3 place chat i2");
        awaitSaid(first, "it starts nothing, and still enforces leases");
        awaitReport(site, "2 RELEASED i1");
        await().atMost(Site.PATIENCE)
                .until(() -> cluster.orders().stream()
                                .filter(order -> order.equals("2 place job t1"))
                                .count()
                        >= 2);
        site.decide(4, serve("i1"));
        awaitReport(site, "4 BOUND i1");

        brokers.proxy().unblock();
        awaitSaid(first, "is not the active instance any more");
        awaitSaid(first, STANDBY);
        second.stop();
        site.decide(5, resize());
        awaitReport(site, "5 APPLIED ");

        assertThat(cluster.violations()).isEmpty();
        assertThat(cluster.tenants()).isEqualTo(Map.of("i1", "chat", "i2", "chat"));
        assertThat(reports(site)).doesNotHaveDuplicates().noneMatch(report -> report.contains("REJECTED"));
        System.out.printf("standby: an order of the new instance %d ms after a cut%n", cut);
    }

    /** Both instances have one state directory, so the second one finds the process of the first. */
    @Test
    void aSecondInstanceOnOneMachineTakesOverARunningProcess() throws Exception {
        try (Site site = site("machine", Site.Kafka.at(stack.bootstrapServers(), 1))) {
            play(site, () -> onOneMachine(site));
        }
    }

    private static void onOneMachine(Site site) throws Exception {
        Path pid = site.directory().resolve("pid");
        declare(site, "process");
        String[] settings = {
            "actuator.driver=process",
            "actuator.nodes=all",
            "actuator.process.programs=" + WaitingJob.programs(site.directory(), pid)
        };
        Instance first = site.startActuator(settings);
        Site.awaitReady(first);
        Instance second = site.startActuator(settings);
        awaitSaid(second, STANDBY);
        Site.awaitReady(second);
        assertThat(second.printed())
                .contains("pid %d on ".formatted(first.process().pid()));
        site.decide(1, resize("t1"));
        awaitReport(site, "1 BOUND t1");
        ProcessHandle worker =
                ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).orElseThrow();

        first.kill();
        long begun = System.nanoTime();
        awaitSaid(second, " is ready: it manages ");
        long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
        assertThat(second.printed()).contains("1 GPU held");
        assertThat(Long.parseLong(Files.readString(pid).strip())).isEqualTo(worker.pid());
        assertThat(worker.isAlive()).isTrue();

        site.decide(2, resize());
        awaitReport(site, "2 RELEASED t1");
        await().atMost(Site.PATIENCE).until(() -> !worker.isAlive());
        assertThat(reports(site)).doesNotHaveDuplicates();
        System.out.printf("standby on one machine: ready %d ms after a kill%n", took);
    }

    private Site site(String name, Site.Kafka where) {
        return new Site(stack, where, name, directory, List.of(), Optional.empty());
    }

    private static Instance started(Site site, OrderedCluster cluster, String name, String... more) {
        List<String> settings = new ArrayList<>(List.of(
                "actuator.standby=true",
                "actuator.driver=webhook",
                "actuator.webhook.url=" + cluster.url(),
                "actuator.state-dir=" + site.directory().resolve(name)));
        settings.addAll(Arrays.asList(more));
        return site.startActuator(settings.toArray(String[]::new));
    }

    private static void awaitSaid(Instance instance, String text) {
        await().atMost(Site.PATIENCE).pollInterval(Duration.ofMillis(50)).until(() -> {
            assertThat(instance.isAlive()).as(instance::printed).isTrue();
            return instance.printed().contains(text);
        });
    }

    private static void awaitReport(Site site, String report) {
        await().atMost(Site.PATIENCE)
                .pollInterval(Duration.ofMillis(300))
                .untilAsserted(() -> assertThat(reports(site)).contains(report));
    }

    private static List<String> reports(Site site) {
        return site.read(TopicCatalogue.ACTUATION_REPORTS).stream()
                .filter(report -> report.outcome() != Outcome.HOLDS)
                .map(StandbyActuatorIT::text)
                .toList();
    }

    private static String text(ActuationReport report) {
        return "%d %s %s"
                .formatted(
                        report.decision().sequence(),
                        report.outcome(),
                        String.join(
                                ",", report.gpus().stream().map(GpuId::value).toList()));
    }

    private static void declare(Site site, String driver) {
        Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        try (RecordWriter writer = RecordWriter.open(site.kafka(), site.topics(), "/test/scheduler")) {
            writer.write(TopicCatalogue.NODES, "n1", node("n1", Pool.TRAINING, now, "t1"));
            writer.write(TopicCatalogue.NODES, "n2", node("n2", Pool.INFERENCE, now, "i1", "i2"));
            writer.write(TopicCatalogue.TRAINING_JOBS, JOB.value(), WaitingJob.of(JOB, now, 2, driver));
            writer.flush();
        }
    }

    private static Node node(String name, Pool pool, Instant now, String... gpus) {
        List<Gpu> inventory = new ArrayList<>();
        for (String gpu : gpus) {
            inventory.add(Gpu.whole(new GpuId(gpu), inventory.size(), "test GPU", 80L << 30));
        }
        return new Node(new NodeId(name), Site.DOMAIN, pool, "boot", now, NodeStatus.READY, inventory);
    }

    private static Action resize(String... gpus) {
        return new Action.Resize(JOB, gpus(gpus), allocation(gpus));
    }

    private static Action lend(Instant until, String own, String lent) {
        return new Action.Lend(JOB, gpus(lent), until.truncatedTo(ChronoUnit.MILLIS), allocation(own, lent));
    }

    private static Action serve(String gpu) {
        return new Action.Serve(CHAT, gpus(gpu), false);
    }

    private static Allocation allocation(String... gpus) {
        return new Allocation(gpus(gpus), 10, 0, 1, Mechanism.RESTART);
    }

    private static List<GpuId> gpus(String... names) {
        return Arrays.stream(names).map(GpuId::new).toList();
    }
}

package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Progress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.fake.FakeBroker;
import io.lendstream.service.health.Health;
import io.lendstream.service.host.HostName;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.settings.Settings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An actuator of training GPUs t1, t2 and inference GPUs i1, i2; a release takes 1.5 s, a bind 3 s, a start 30 s. */
class ActuatorServiceTest {
    private static final DomainId DOMAIN = new DomainId("d");
    private static final JobId JOB = new JobId("job");
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final FakeBroker broker = new FakeBroker();
    private final RecordWriter scheduler = broker.writer("scheduler");
    private final RecordWriter environment = broker.writer("environment");
    private final Health health = new Health();
    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private Instant now = NOON;
    private long sequence;

    @TempDir
    Path folder;

    @BeforeEach
    void nodes() {
        broker.publish(TopicCatalogue.NODES, "n1", node("n1", Pool.TRAINING, "t1", "t2"));
        broker.publish(TopicCatalogue.NODES, "n2", node("n2", Pool.INFERENCE, "i1", "i2"));
    }

    @Test
    void takesDecisionsUpAndReportsWhatBecomesOfThemWhenItIsDone() {
        ActuatorService actuator = started(false);
        decide(resize("t1"));

        turnAt(actuator, 0);
        turnAt(actuator, 10);
        turnAt(actuator, 40);

        assertThat(reports()).containsExactly("0 d/1/1 ACCEPTED t1", "3 d/1/1 BOUND t1", "30 d/1/1 APPLIED t1");
        assertThat(broker.log("lendstream.actuation-reports"))
                .allSatisfy(record -> assertThat(new String(record.key(), java.nio.charset.StandardCharsets.UTF_8))
                        .isEqualTo("d"));
        assertThat(metrics.counter("lendstream.reports", "outcome", "bound").count())
                .isEqualTo(1);
        assertThat(metrics.get("lendstream.gpus.held").gauge().value()).isEqualTo(1);
    }

    @Test
    void countersStartAtZero() {
        started(false);

        assertThat(metrics.get("lendstream.reports")
                        .tag("outcome", "bound")
                        .counter()
                        .count())
                .isZero();
        assertThat(metrics.get("lendstream.decisions")
                        .tag("kind", "release")
                        .counter()
                        .count())
                .isZero();
    }

    @Test
    void aRefusedDecisionIsCountedAsARefusalOnly() {
        ActuatorService actuator = started(false);
        decide(resize("t1"));
        turnAt(actuator, 0);

        sequence = 0;
        decide(resize("t1"));
        turnAt(actuator, 1);

        assertThat(reports()).containsExactly("0 d/1/1 ACCEPTED t1", "1 d/1/1 REJECTED t1");
        assertThat(metrics.counter("lendstream.decisions", "kind", "resize").count())
                .isEqualTo(1);
    }

    @Test
    void saysEverySoOftenWhoHasWhat() {
        ActuatorService actuator = started(false, "actuator.stock-every=60s");
        decide(resize("t1"));
        turnAt(actuator, 0);
        turnAt(actuator, 50);
        turnAt(actuator, 60);
        turnAt(actuator, 61);

        assertThat(stock()).containsExactly("60 d/1/1 HOLDS i1,i2,t2", "60 d/1/1 HOLDS t1");
    }

    @Test
    void isReadyOnceItHasCaughtUp() {
        assertThat(health.whyNotReady()).isPresent();

        started(false);

        assertThat(health.whyNotReady()).isEmpty();
    }

    @Test
    void describesItselfOnceAfterItsStart() {
        ActuatorService actuator =
                started(false, "actuator.name=rack-1", "actuator.nodes=n1,n9", "actuator.granularity=node");
        turnAt(actuator, 0);
        turnAt(actuator, 10);

        assertThat(broker.values(TopicCatalogue.ACTUATORS)).singleElement().satisfies(description -> {
            assertThat(description.actuator()).isEqualTo("rack-1");
            assertThat(description.domain()).isEqualTo(DOMAIN);
            assertThat(description.driver()).isEqualTo("simulated");
            assertThat(description.nodes()).containsExactly(new NodeId("n1"), new NodeId("n9"));
            assertThat(description.abilities()).isEqualTo(Abilities.USUAL.withGranularity(Granularity.NODE));
        });
        assertThat(broker.log("lendstream.actuators"))
                .allSatisfy(record -> assertThat(new String(record.key(), java.nio.charset.StandardCharsets.UTF_8))
                        .isEqualTo("d/rack-1"));
    }

    /** The scheduler would keep the nodes of its last description for ever. */
    @Test
    void anActuatorWithoutNodesGivesUpTheNodesThatItHad() {
        turnAt(started(false, "actuator.name=rack-1", "actuator.granularity=node"), 0);
        turnAt(started(false, "actuator.name=rack-1", "actuator.granularity=node", "actuator.nodes=none"), 1);

        assertThat(broker.values(TopicCatalogue.ACTUATORS)).hasSize(2).last().satisfies(description -> {
            assertThat(description.actuator()).isEqualTo("rack-1");
            assertThat(description.domain()).isEqualTo(DOMAIN);
            assertThat(description.nodes()).containsExactly(new NodeId("none"));
            assertThat(description.abilities()).isEqualTo(Abilities.USUAL);
        });
    }

    @Test
    void anAcceleratedRunDescribesOnlyWhatIsUnusual() {
        ActuatorService usual = started(true);
        progress(scheduler, "scheduler", 0);
        progress(environment, "environment", 5);
        turnAt(usual, 0);

        assertThat(broker.values(TopicCatalogue.ACTUATORS)).isEmpty();

        ActuatorService other = started(true, "actuator.spans-nodes=false");
        turnAt(other, 0);

        assertThat(broker.values(TopicCatalogue.ACTUATORS)).hasSize(1);
    }

    @Test
    void aDryRunDoesNotDescribeItself() {
        turnAt(started(false, "actuator.dry-run=true"), 0);

        assertThat(broker.values(TopicCatalogue.ACTUATORS)).isEmpty();
    }

    /** The deadline of the decisions here is after ten minutes. */
    @Test
    void aDecisionThatArrivesAfterItsDeadlineGivesNoGpu() {
        ActuatorService actuator = started(false);
        decideAt(0, resize("t1"));
        decideAt(100, resize("t2"));
        turnAt(actuator, 650);

        assertThat(reports()).containsExactly("650 d/1/1 REJECTED t1", "650 d/1/2 ACCEPTED t2");
        assertThat(metrics.get("lendstream.refusals")
                        .tag("cause", "too_late")
                        .gauge()
                        .value())
                .isEqualTo(1);
    }

    @Test
    void aDecisionThatWasAnsweredInTimeIsRepeatedAtThatTimeAfterALateRestart() {
        ActuatorService first = started(false);
        decide(resize("t1"));
        turnAt(first, 1);
        now = at(5000);

        ActuatorService second = started(false);
        turnAt(second, 5000);

        assertThat(reports()).startsWith("1 d/1/1 ACCEPTED t1").noneMatch(line -> line.contains("REJECTED"));
        assertThat(second.actuation().heldGpus()).isEqualTo(1);
    }

    @Test
    void theProcessDriverDescribesThisHostOnlyAndRefusesUnitsElsewhere() throws IOException {
        String host = HostName.or(Optional.empty(), "actuator.nodes");
        broker.publish(TopicCatalogue.NODES, host, node(host, Pool.TRAINING, "h1"));
        Files.createDirectories(folder.resolve("programs/jobs"));
        Files.createDirectories(folder.resolve("programs/services"));
        ActuatorService actuator = started(
                false,
                "actuator.driver=process",
                "actuator.process.programs=" + folder.resolve("programs"),
                stateDir());
        decide(resize("t1"));
        decide(resize("t1", "h1"));
        turnAt(actuator, 0);
        turnAt(actuator, 5);
        actuator.finish();

        assertThat(broker.values(TopicCatalogue.ACTUATORS)).singleElement().satisfies(description -> {
            assertThat(description.nodes()).containsExactly(new NodeId(host));
            assertThat(description.abilities().spansNodes()).isFalse();
        });
        assertThat(reports()).containsExactly("0 d/1/2 REJECTED h1");
        assertThat(broker.values(TopicCatalogue.ACTUATION_REPORTS))
                .extracting(ActuationReport::reason)
                .containsExactly(
                        "job job would run on nodes of several actuators, which the driver of this one cannot do");
    }

    @Test
    void aScopeThatNoAgentReportsIsSaidOnce() {
        SelfDescription description =
                new SelfDescription(ActuatorSettings.of(Settings.of(ActuatorSettings.KEYS, "actuator.nodes=gpu-7")));
        assertThat(description.mismatch()).isEmpty();
        description.know(node("gpu-8", Pool.TRAINING, "t1"));

        assertThat(description.mismatch())
                .contains("no agent has reported node gpu-7; agents report gpu-8. Set actuator.nodes to the name that"
                        + " the agent of this machine has (agent.node), or to all");
        assertThat(description.mismatch()).isEmpty();
    }

    @Test
    void aScopeThatOneAgentReportsIsFine() {
        SelfDescription description = new SelfDescription(
                ActuatorSettings.of(Settings.of(ActuatorSettings.KEYS, "actuator.nodes=gpu-7,gpu-9")));
        description.know(node("gpu-8", Pool.TRAINING, "t1"));
        description.know(node("gpu-7", Pool.TRAINING, "t2"));

        assertThat(description.mismatch()).isEmpty();
    }

    @Test
    void takesTheDecisionsOfItsNodesOnly() {
        ActuatorService actuator = started(false, "actuator.nodes=n2");
        decide(resize("t1"));

        turnAt(actuator, 0);
        turnAt(actuator, 40);

        assertThat(reports()).isEmpty();
    }

    @Test
    void leavesTheDecisionsOfOtherDomainsToOthers() {
        ActuatorService actuator = started(false, "actuator.domains=e");
        decide(resize("t1"));

        turnAt(actuator, 0);

        assertThat(reports()).isEmpty();
    }

    @Test
    void aDryRunSaysThatEverythingIsInForceAtOnceAndThatItIsOne() {
        ActuatorService actuator = started(false, "actuator.dry-run=true");
        decide(resize("t1"));

        turnAt(actuator, 0);

        assertThat(reports()).containsExactly("0 d/1/1 ACCEPTED t1", "0 d/1/1 BOUND t1", "0 d/1/1 APPLIED t1");
        assertThat(broker.values(TopicCatalogue.ACTUATION_REPORTS))
                .extracting(ActuationReport::actuator)
                .containsOnly("actuator (dry run)");
    }

    @Test
    void afterAStopItGoesOnFromItsMemory() {
        ActuatorService first = started(false, stateDir());
        decide(resize("t1"));
        turnAt(first, 0);
        first.finish();

        ActuatorService second = started(false, stateDir());
        turnAt(second, 40);

        assertThat(reports()).containsExactly("0 d/1/1 ACCEPTED t1", "3 d/1/1 BOUND t1", "30 d/1/1 APPLIED t1");
    }

    @Test
    void afterACrashItReportsNothingTwiceAndForgetsNothing() {
        ActuatorService first = started(false, stateDir());
        decide(resize("t1"));
        turnAt(first, 0);
        first.finish();
        decide(lend("i1", "t1", "i1"));
        turnAt(first, 50);
        turnAt(first, 54);

        ActuatorService second = started(false, stateDir());
        turnAt(second, 55);
        turnAt(second, 100);
        turnAt(second, 400);

        assertThat(reports())
                .containsExactly(
                        "0 d/1/1 ACCEPTED t1",
                        "3 d/1/1 BOUND t1",
                        "30 d/1/1 APPLIED t1",
                        "50 d/1/2 ACCEPTED i1",
                        "53 d/1/2 BOUND i1",
                        "66 d/1/2 APPLIED i1,t1",
                        "304 d/1/2 RELEASED i1");
    }

    @Test
    void withoutAMemoryItIsRebuiltFromTheTopics() {
        ActuatorService first = started(false);
        decide(resize("t1", "t2"));
        turnAt(first, 0);
        turnAt(first, 40);
        decide(new Action.Hold(Optional.of(JOB), Optional.empty()));
        decide(new Action.Resize(JOB, gpus("t2"), allocation("t1")));
        turnAt(first, 50);

        ActuatorService second = started(false);
        decide(new Action.Resize(JOB, gpus("t1"), allocation()));
        turnAt(second, 51);
        turnAt(second, 100);

        assertThat(reports())
                .containsExactly(
                        "0 d/1/1 ACCEPTED t1,t2",
                        "3 d/1/1 BOUND t1,t2",
                        "30 d/1/1 APPLIED t1,t2",
                        "50 d/1/3 ACCEPTED t2",
                        "51 d/1/4 ACCEPTED t1",
                        "51.5 d/1/3 RELEASED t2",
                        "52.5 d/1/4 RELEASED t1",
                        "52.5 d/1/3 APPLIED -",
                        "52.5 d/1/4 APPLIED -");
        assertThat(second.actuation().holdings()).isEmpty();
    }

    /** It never answers the decision about i1, which must not keep it from repeating the next. */
    @Test
    void decisionsAboutOtherActuatorsAreNotMissedInARebuild() {
        ActuatorService first = started(false, "actuator.nodes=n1");
        decide(resize("t1", "t2"));
        turnAt(first, 0);
        turnAt(first, 40);
        decide(new Action.Serve(new ServiceId("chat"), gpus("i1"), false));
        decide(new Action.Resize(JOB, gpus("t2"), allocation("t1")));
        turnAt(first, 50);
        turnAt(first, 60);
        List<String> before = reports();

        ActuatorService second = started(false, "actuator.nodes=n1");
        turnAt(second, 70);
        turnAt(second, 100);

        assertThat(before).contains("50 d/1/3 ACCEPTED t2", "51.5 d/1/3 RELEASED t2");
        assertThat(reports()).isEqualTo(before);
    }

    @Test
    void decisionsMadeWhileItWasAwayAreTakenUpWhenItIsBack() {
        decide(resize("t1"));

        ActuatorService late = started(false);
        turnAt(late, 20);

        assertThat(reports()).containsExactly("20 d/1/1 ACCEPTED t1");
    }

    /** Otherwise doctor takes the clock of a new actuator for one that is behind. */
    @Test
    void aNewActuatorReportsNothingWithTheTimesOfOldDecisions() {
        write(0, true, new Action.Hold(Optional.of(JOB), Optional.empty()));
        write(1, false, new Action.Serve(new ServiceId("chat"), gpus("i1"), false));
        write(2, true, new Action.Hold(Optional.of(JOB), Optional.empty()));
        write(3, true, resize("t1"));
        now = at(600);

        ActuatorService late = started(false, "actuator.nodes=n1", "actuator.name=late");
        turnAt(late, 600);

        assertThat(reports()).containsExactly("600 d/1/4 REJECTED t1");
    }

    @Test
    void anotherActuatorsMemoryIsNotItsOwn() {
        ActuatorService first = started(false, stateDir());
        decide(resize("t1"));
        turnAt(first, 0);
        first.finish();

        ActuatorService other = started(false, stateDir(), "actuator.name=other");

        assertThat(other.actuation().holdings()).isEmpty();
    }

    @Test
    void answersTheTimeThatTheEnvironmentNames() {
        ActuatorService actuator = started(true);
        progress(environment, "environment", 5);

        turnAt(actuator, 0);

        assertThat(answers()).containsExactly("5 next -");
    }

    @Test
    void inAnAcceleratedRunItTakesUpWhatTheSchedulerHadDecidedByItsLastAnswer() {
        ActuatorService actuator = started(true);
        progress(environment, "environment", 5);
        turnAt(actuator, 0);
        decideAt(5, resize("t1"));
        progress(scheduler, "scheduler", 5);
        progress(environment, "agent", 5);
        decideAt(7, resize("t1", "t2"));

        progress(environment, "environment", 10);
        turnAt(actuator, 0);
        progress(scheduler, "scheduler", 10);
        progress(environment, "agent", 10);
        progress(environment, "environment", 40);
        turnAt(actuator, 0);

        assertThat(reports())
                .containsExactly(
                        "5 d/1/1 ACCEPTED t1",
                        "8 d/1/1 BOUND t1",
                        "10 d/1/2 ACCEPTED t2",
                        "13 d/1/2 BOUND t2",
                        "35 d/1/1 APPLIED t1",
                        "35 d/1/2 APPLIED t1,t2");
        assertThat(answers()).containsExactly("5 next -", "10 next 35", "40 next -");
    }

    @Test
    void inAnAcceleratedRunItWaitsForTheSchedulersAnswerHoweverLateItArrives() {
        ActuatorService actuator = started(true);
        progress(environment, "environment", 5);
        turnAt(actuator, 0);
        progress(environment, "agent", 5);
        progress(environment, "environment", 10);
        turnAt(actuator, 0);

        assertThat(answers()).containsExactly("5 next -");

        progress(scheduler, "scheduler", 5);
        turnAt(actuator, 0);

        assertThat(answers()).containsExactly("5 next -", "10 next -");
    }

    @Test
    void inAnAcceleratedRunItTakesWhatTheSchedulerHasAnsweredWithAndNothingSince() {
        ActuatorService actuator = started(true);
        schedulerHasDecided(0, 2);
        progress(environment, "agent", 0);
        decideAt(0, resize("t1"));
        progress(environment, "environment", 5);
        turnAt(actuator, 0);

        assertThat(answers()).isEmpty();

        decideAt(0, resize("t2"));
        decideAt(5, resize("t1", "t2"));
        turnAt(actuator, 0);

        assertThat(answers()).hasSize(1);
        assertThat(String.join("\n", reports())).contains(" d/1/1 ", " d/1/2 ").doesNotContain(" d/1/3 ");
    }

    private void schedulerHasDecided(double second, long decisions) {
        scheduler.write(
                TopicCatalogue.PROGRESS,
                "scheduler",
                new Progress("scheduler", DOMAIN, at(second), Map.of(Progress.DECISIONS, decisions), Optional.empty()));
    }

    @Test
    void anAnswerSaysWhereItsReportsEnd() {
        ActuatorService actuator = started(true);
        decideAt(0, resize("t1"));
        progress(scheduler, "scheduler", 0);
        progress(environment, "environment", 5);
        turnAt(actuator, 0);

        List<Progress> answers = broker.values(TopicCatalogue.PROGRESS).stream()
                .filter(progress -> progress.service().equals("actuator"))
                .toList();

        assertThat(answers)
                .singleElement()
                .satisfies(
                        answer -> assertThat(answer.positions()).containsEntry("lendstream.actuation-reports-0", 2L));
        assertThat(reports()).containsExactly("0 d/1/1 ACCEPTED t1", "3 d/1/1 BOUND t1");
    }

    private ActuatorService started(boolean virtual, String... given) {
        RecordWriter writer = broker.writer("actuator");
        ActuatorSettings settings = ActuatorSettings.of(Settings.of(ActuatorSettings.KEYS, given));
        var transport =
                new DirectTransport(settings.name(), broker.reader(writer), writer, () -> broker.reader(writer));
        ActuatorService actuator = virtual
                ? ActuatorService.accelerated(settings, transport, health, metrics, () -> now)
                : ActuatorService.byWallClock(settings, transport, health, metrics, () -> now);
        actuator.start(() -> false);
        return actuator;
    }

    private String stateDir() {
        return "actuator.state-dir=" + folder;
    }

    private void turnAt(ActuatorService actuator, double second) {
        now = at(second);
        actuator.turn(Duration.ZERO);
    }

    private void decide(Action action) {
        decideAt(0, action);
    }

    private void decideAt(double second, Action action) {
        write(second, false, action);
    }

    private void write(double second, boolean advisory, Action action) {
        sequence++;
        scheduler.write(
                TopicCatalogue.DECISIONS,
                "d",
                new Decision(
                        new DecisionId(DOMAIN, 1, sequence),
                        at(second),
                        at(second).plusSeconds(600),
                        advisory,
                        new Reason("plan", "", Map.of(), List.of()),
                        action));
    }

    private void progress(RecordWriter writer, String service, double second) {
        writer.write(
                TopicCatalogue.PROGRESS,
                service,
                new Progress(service, DOMAIN, at(second), writer.positions(), Optional.empty()));
    }

    /** What became of decisions. */
    private List<String> reports() {
        return reports(report -> report.outcome() != Outcome.HOLDS);
    }

    private List<String> stock() {
        return reports(report -> report.outcome() == Outcome.HOLDS);
    }

    private List<String> reports(Predicate<ActuationReport> which) {
        return broker.values(TopicCatalogue.ACTUATION_REPORTS).stream()
                .filter(which)
                .map(report -> "%s %s %s %s"
                        .formatted(
                                second(report.at()),
                                report.decision(),
                                report.outcome(),
                                report.gpus().isEmpty()
                                        ? "-"
                                        : String.join(
                                                ",",
                                                report.gpus().stream()
                                                        .map(GpuId::value)
                                                        .toList())))
                .toList();
    }

    private List<String> answers() {
        return broker.values(TopicCatalogue.PROGRESS).stream()
                .filter(progress -> progress.service().equals("actuator"))
                .map(progress -> "%s next %s"
                        .formatted(
                                second(progress.eventTime()),
                                progress.nextEventAt()
                                        .map(ActuatorServiceTest::second)
                                        .orElse("-")))
                .toList();
    }

    private static String second(Instant time) {
        double second = Duration.between(NOON, time).toMillis() / 1000.0;
        return second == Math.rint(second) ? String.valueOf((long) second) : String.valueOf(second);
    }

    private static Action resize(String... gpus) {
        return new Action.Resize(JOB, gpus(gpus), allocation(gpus));
    }

    private static Action lend(String lent, String... allocation) {
        return new Action.Lend(JOB, gpus(lent), at(300), allocation(allocation));
    }

    private static Allocation allocation(String... gpus) {
        return new Allocation(gpus(gpus), 10, 0, 1, Mechanism.AFE);
    }

    private static List<GpuId> gpus(String... names) {
        return Arrays.stream(names).map(GpuId::new).toList();
    }

    private static Instant at(double second) {
        return NOON.plusMillis(Math.round(second * 1000));
    }

    private static Node node(String name, Pool pool, String... gpus) {
        var inventory = new ArrayList<Gpu>();
        for (String gpu : gpus) {
            inventory.add(Gpu.whole(new GpuId(gpu), inventory.size(), "A100", 80L << 30));
        }
        return new Node(new NodeId(name), DOMAIN, pool, "boot", NOON, NodeStatus.READY, inventory);
    }
}

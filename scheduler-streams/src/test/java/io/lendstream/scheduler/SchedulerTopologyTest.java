package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.BatchingDecision;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.Lease;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.time.TimeMode;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SchedulerTopologyTest {
    private final Loop loop = Loop.live();

    @AfterEach
    void close() {
        loop.close();
    }

    /** A morning: a job borrows inference's idle GPUs, and gives them back when demand comes. */
    private static Scenario morning() {
        Scenario story = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 2)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled();
        story.job("bert", 4);
        for (int i = 0; i < 40 && story.job("bert").gpus() < 4; i++) {
            story.rate("chat", 1).settled().after(Duration.ofSeconds(15)).settled();
            if (story.job("bert").gpus() > 0) {
                story.progress("bert", JobPhase.RUNNING).settled();
            }
        }
        return story.rate("chat", 25).settled();
    }

    private void tellAll(Scenario story) {
        for (DomainEvent event : story.log()) {
            if (isInput(event.event())) {
                loop.tell(event.event());
            }
        }
    }

    private static boolean isInput(Event event) {
        return !(event instanceof Tick) && !(event instanceof SchedulerStarted);
    }

    @Test
    void decidesExactlyWhatTheCoreDecides() {
        Scenario story = morning();

        tellAll(story);

        assertThat(story.decisions())
                .extracting(decision -> decision.action().kind())
                .contains("lend", "reclaim", "serve");
        assertThat(loop.decisions()).isEqualTo(story.decisions());
    }

    @Test
    void writesALogFromWhichEveryDecisionCanBeMadeAgain() {
        tellAll(morning());

        List<DomainEvent> log = loop.events();
        List<Decision> published = loop.decisions();

        assertThat(decisionsOf(log)).isEqualTo(published);
        assertThat(HistoryChecker.check(Scenario.DOMAIN, log, published, loop.leases())
                        .violations())
                .isEmpty();
    }

    @Test
    void logsWhereEachEventCameFrom() {
        tellAll(morning());

        List<DomainEvent> log = loop.events();

        assertThat(log.get(0).event()).isInstanceOf(SchedulerStarted.class);
        assertThat(log.get(0).origin()).isEmpty();
        assertThat(log.get(1).origin()).contains(new Origin("lendstream.nodes", 0, 0));
        assertThat(log.get(2).origin()).contains(new Origin("lendstream.nodes", 0, 1));
        assertThat(log)
                .filteredOn(event -> event.event() instanceof Tick)
                .isNotEmpty()
                .allSatisfy(tick -> assertThat(tick.origin()).isEmpty());
        assertThat(log)
                .extracting(DomainEvent::sequence)
                .doesNotHaveDuplicates()
                .isSorted();
    }

    @Test
    void publishesEachGpusOwnerUnderItsName() {
        tellAll(morning());

        List<TestRecord<byte[], byte[]>> records = loop.records("lendstream.leases");

        assertThat(records).allSatisfy(record -> {
            Lease lease = loop.decode(TopicCatalogue.LEASES, record);
            assertThat(new String(record.key(), UTF_8)).isEqualTo(lease.gpuId().value());
        });
        assertThat(records).hasSizeGreaterThan(6);
    }

    @Test
    void takesLeasesOfVanishedGpusBack() {
        Scenario story = Scenario.of("deepboot").node("infer", Pool.INFERENCE, 2);
        tellAll(story);
        loop.leases();

        loop.tell(new NodeLeft(new NodeId("infer"), Scenario.DOMAIN, Scenario.START));

        assertThat(loop.records("lendstream.leases"))
                .extracting(record -> new String(record.key(), UTF_8), TestRecord::value)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("infer-g0", null),
                        org.assertj.core.groups.Tuple.tuple("infer-g1", null));
        assertThat(loop.events()).last().satisfies(event -> {
            assertThat(event.event()).isInstanceOf(NodeLeft.class);
            assertThat(event.origin()).contains(new Origin("lendstream.nodes", 0, 1));
        });
    }

    @Test
    void tellsTheOldDomainWhenANodeMovesToAnother() {
        Gpu gpu = Gpu.whole(new GpuId("g0"), 0, "test GPU", 80L << 30);
        for (String domain : List.of("east", "west")) {
            loop.tell(new Node(
                    new NodeId("n1"),
                    new DomainId(domain),
                    Pool.TRAINING,
                    "boot",
                    Scenario.START,
                    NodeStatus.READY,
                    List.of(gpu)));
        }

        assertThat(loop.events())
                .filteredOn(event -> isInput(event.event()))
                .extracting(event ->
                        event.domain().value() + " " + event.event().getClass().getSimpleName())
                .containsExactly("east Node", "east NodeLeft", "west Node");
    }

    @Test
    void countsTombstonesThatMeanNothing() {
        loop.sendBytes(TopicCatalogue.SERVICES, "chat".getBytes(UTF_8), null);
        loop.sendBytes(TopicCatalogue.NODES, "never-seen".getBytes(UTF_8), null);

        assertThat(loop.events()).isEmpty();
        assertThat(loop.count("lendstream.tombstones.ignored")).isEqualTo(2);
    }

    @Test
    void carriesCloudEventsHeaders() {
        tellAll(morning());

        TestRecord<byte[], byte[]> record = loop.records("lendstream.decisions").get(0);

        Decision decision = loop.decode(TopicCatalogue.DECISIONS, record);
        assertThat(Loop.cloudEvent(record).id()).isEqualTo(decision.id().toString());
        assertThat(Loop.cloudEvent(record).type()).isEqualTo("io.lendstream.Decision");
        assertThat(Loop.cloudEvent(record).time()).isEqualTo(decision.at());
        assertThat(new String(record.key(), UTF_8)).isEqualTo("test");
    }

    @Test
    void dropsWhatItTookBefore() {
        RequestRate rate = Scenario.of("deepboot").rateRecord("chat", 5, 1);
        tellAll(Scenario.of("deepboot").service("chat", 0));
        Origin origin = new Origin("lendstream.request-rates", 3, 17);
        loop.passOn(TopicCatalogue.REQUEST_RATES, Scenario.DOMAIN, origin, rate);
        int before = loop.events().size();

        loop.passOn(TopicCatalogue.REQUEST_RATES, Scenario.DOMAIN, origin, rate);
        loop.passOn(TopicCatalogue.REQUEST_RATES, Scenario.DOMAIN, new Origin("lendstream.request-rates", 3, 16), rate);

        assertThat(before).isEqualTo(3);
        assertThat(loop.events()).isEmpty();
        assertThat(loop.count("lendstream.duplicates")).isEqualTo(2);
    }

    @Test
    void keepsDomainsApart() {
        for (String domain : List.of("east", "west", "east")) {
            loop.tell(new Node(
                    new NodeId("node-" + domain),
                    new DomainId(domain),
                    Pool.TRAINING,
                    "boot",
                    Scenario.START,
                    NodeStatus.READY,
                    List.of(Gpu.whole(new GpuId("g-" + domain), 0, "test GPU", 80L << 30))));
        }

        assertThat(loop.events())
                .extracting(event -> event.domain() + "/" + event.sequence())
                .containsExactly("east/1", "east/2", "west/1", "west/2", "east/3");
    }

    @ParameterizedTest(name = "after {0} % of its inputs")
    @ValueSource(ints = {10, 25, 40, 50, 60, 75, 90})
    void startsANewEpochAndGoesOnWhereItStoodAfterARestart(int percent) {
        Scenario story = morning();
        List<DomainEvent> inputs =
                story.log().stream().filter(event -> isInput(event.event())).toList();
        int half = inputs.size() * percent / 100;
        inputs.subList(0, half).forEach(event -> loop.tell(event.event()));
        List<DomainEvent> log = new ArrayList<>(loop.events());
        List<Decision> decisions = new ArrayList<>(loop.decisions());
        List<Lease> leases = new ArrayList<>(loop.leases());

        try (Loop second = loop.restarted(TimeMode.WALL)) {
            int before = decisions.size();
            for (int i = half; i < inputs.size(); i++) {
                second.passOn(inSecondEpoch(inputs.get(i).event(), before), 1000 + i);
            }

            log.addAll(second.events());
            decisions.addAll(second.decisions());
            leases.addAll(second.leases());
        }

        assertThat(log)
                .filteredOn(event -> event.event() instanceof SchedulerStarted)
                .extracting(DomainEvent::epoch)
                .containsExactly(1L, 2L);
        assertThat(log).extracting(DomainEvent::epoch).isSorted();
        assertThat(decisionsOf(log)).isEqualTo(decisions);
        assertThat(HistoryChecker.check(Scenario.DOMAIN, log, decisions, leases).violations())
                .isEmpty();
        assertThat(decisions)
                .extracting(Decision::action)
                .isEqualTo(story.decisions().stream().map(Decision::action).toList());
    }

    /** The reports on decisions that are made again in the second epoch are about those. */
    private static Event inSecondEpoch(Event event, long lastOfFirst) {
        return event instanceof ActuationReport report && report.decision().sequence() > lastOfFirst
                ? new ActuationReport(
                        report.domain(),
                        new DecisionId(report.domain(), 2, report.decision().sequence()),
                        report.actuator(),
                        report.at(),
                        report.outcome(),
                        report.gpus(),
                        report.tenant(),
                        report.timings(),
                        report.reason())
                : event;
    }

    /** Servers of an A100 that report their batches for some windows of 15 s. */
    private static Scenario batching(int windows) {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 1, "NVIDIA A100-SXM4-80GB")
                .service("chat", 1)
                .settled();
        List<BatchTimes> batches = List.of(
                new BatchTimes(Optional.empty(), 8, 0, 40, 60), new BatchTimes(Optional.empty(), 64, 0, 40, 340));
        for (int i = 0; i < windows; i++) {
            story.after(Duration.ofSeconds(15))
                    .settled()
                    .served("chat", 8, .1, batches)
                    .settled();
        }
        return story;
    }

    @Test
    void tellsServersHowToBatchUnderTheirServicesName() {
        Scenario story = batching(3);
        tellAll(story);

        List<TestRecord<byte[], byte[]>> records = loop.records("lendstream.batching-decisions");
        List<Decision> decided = loop.decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Batching)
                .toList();

        assertThat(decided).isNotEmpty().hasSameSizeAs(records);
        for (int i = 0; i < records.size(); i++) {
            Decision decision = decided.get(i);
            assertThat(new String(records.get(i).key(), UTF_8)).isEqualTo("chat");
            assertThat(loop.decode(TopicCatalogue.BATCHING_DECISIONS, records.get(i)))
                    .isEqualTo(new BatchingDecision(
                            decision.id(),
                            new ServiceId("chat"),
                            Scenario.DOMAIN,
                            decision.at(),
                            ((Action.Batching) decision.action()).buckets(),
                            Optional.empty(),
                            1));
        }
        assertThat(HistoryChecker.check(Scenario.DOMAIN, story.log(), story.decisions(), loop.leases())
                        .violations())
                .isEmpty();
    }

    @Test
    void advisesServersOfNothing() {
        tellAll(Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 1, "NVIDIA A100-SXM4-80GB")
                .node("train", Pool.TRAINING, 1)
                .service("chat", 1)
                .job("bert", 1)
                .settled()
                .control(ControlCommand.Kind.ADVISORY_ON));
        tellAll(batching(20));

        assertThat(loop.decisions())
                .anySatisfy(decision -> assertThat(decision.action()).isInstanceOf(Action.Batching.class));
        assertThat(loop.records("lendstream.batching-decisions")).isEmpty();
    }

    @Test
    void whatWasAdvisedBeforeARestartCanBeApprovedAfterIt() {
        Scenario story = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 2)
                .service("chat", 0)
                .control(ControlCommand.Kind.ADVISORY_ON)
                .job("bert", 1)
                .after(Duration.ofSeconds(45))
                .rate("chat", 1)
                .after(Duration.ofSeconds(15))
                .rate("chat", 1);
        tellAll(story);
        Decision advice = loop.decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Resize)
                .findFirst()
                .orElseThrow();
        story.approve(advice.id());
        Event approval = story.log().get(story.log().size() - 1).event();

        try (Loop second = loop.restarted(TimeMode.WALL)) {
            second.passOn(approval, 1000);

            assertThat(advice.advisory()).isTrue();
            assertThat(second.decisions()).singleElement().satisfies(decision -> {
                assertThat(decision.advisory()).isFalse();
                assertThat(decision.action()).isEqualTo(advice.action());
            });
        }
    }

    @Test
    void remembersAfterARestartHowItWasToldToBatch() {
        Scenario story = batching(30);
        story.after(Duration.ofSeconds(15)).served("chat", 8, .53, List.of());
        Decision late = story.last().get(0);
        List<DomainEvent> inputs =
                story.log().stream().filter(event -> isInput(event.event())).toList();
        int last = inputs.size() - 1;
        inputs.subList(0, last).forEach(event -> loop.tell(event.event()));

        try (Loop second = loop.restarted(TimeMode.WALL)) {
            second.passOn(inputs.get(last).event(), 1000);

            assertThat(late.reason().text())
                    .contains("its p99 latency was 530 ms (SLO: 500 ms)")
                    .contains(" instead of ");
            assertThat(second.decisions()).singleElement().satisfies(decision -> {
                assertThat(decision.action()).isEqualTo(late.action());
                assertThat(decision.reason().text()).isEqualTo(late.reason().text());
            });
        }
    }

    @Test
    void countsTheGpusOfWhichAnActuatorKnowsOtherwise() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 2)
                .service("chat", 1)
                .settled()
                .after(Duration.ofSeconds(1));
        DecisionId first = story.decisions().get(0).id();
        GpuId serving = story.decisions().get(0).action().gpus().get(0);
        story.tell(story.report(first, Outcome.HOLDS, List.of(serving), Optional.empty()));

        tellAll(story);

        assertThat(loop.count("lendstream.ownership.drift.gpus")).isEqualTo(1);
    }

    @Test
    void ticksByTheWallClockWhenNothingHappens() {
        Scenario story = Scenario.of("deepboot").node("train", Pool.TRAINING, 2).job("bert", 2);
        tellAll(story);
        loop.events();

        loop.pass(Duration.ofSeconds(2));

        assertThat(loop.events())
                .isNotEmpty()
                .allSatisfy(event -> assertThat(event.event()).isInstanceOf(Tick.class));
    }

    @Test
    void doesNotTakeABacklogForSilence() {
        Scenario story = Scenario.of("deepboot").node("train", Pool.TRAINING, 2).job("bert", 2);
        Instant longAgo = loop.wallClock().minus(Duration.ofHours(1));
        for (DomainEvent event : story.log()) {
            if (isInput(event.event())) {
                loop.tellSince(longAgo, event.event());
            }
        }
        loop.events();

        loop.pass(Duration.ofSeconds(3));
        List<DomainEvent> soon = loop.events();
        loop.pass(Duration.ofSeconds(10));

        assertThat(soon).isEmpty();
        assertThat(loop.events()).isNotEmpty();
    }

    @Test
    void decidesNothingOfABacklogAndThenForTheTimeThatItIs() {
        Scenario story =
                Scenario.of("deepboot").node("infer", Pool.INFERENCE, 2).service("chat", 1);
        story.rate("chat", 5);
        Instant longAgo = loop.wallClock().minus(Duration.ofHours(1));
        for (DomainEvent event : story.log()) {
            if (isInput(event.event())) {
                loop.tellSince(longAgo, event.event());
            }
        }
        List<DomainEvent> log = new ArrayList<>(loop.events());
        assertThat(loop.decisions()).isEmpty();

        loop.pass(Duration.ofSeconds(15));
        log.addAll(loop.events());
        List<Decision> decisions = loop.decisions();

        assertThat(decisions).extracting(decision -> decision.action().kind()).contains("serve");
        assertThat(decisions).allSatisfy(decision -> assertThat(decision.at()).isAfterOrEqualTo(Loop.WALL_CLOCK));
        assertThat(HistoryChecker.check(Scenario.DOMAIN, log, decisions, loop.leases())
                        .violations())
                .isEmpty();
    }

    @Test
    void aRecordThatIsStampedAheadMovesNoTimeBeyondTheWallClock() {
        tellAll(Scenario.of("deepboot").node("train", Pool.TRAINING, 2));
        Instant ahead = loop.wallClock().plus(Duration.ofMinutes(2));

        loop.tell(new GpuTelemetry(new NodeId("train"), Scenario.DOMAIN, "boot-1", 1, ahead, List.of()));

        assertThat(loop.events()).last().satisfies(event -> {
            assertThat(event.event().at()).isEqualTo(ahead);
            assertThat(event.at()).isEqualTo(loop.wallClock());
        });
    }

    @Test
    void isMadeOfNamedParts() throws IOException {
        String recorded = "topology-%d.txt".formatted(SchedulerTopology.VERSION);
        try (InputStream golden = getClass().getResourceAsStream(recorded)) {
            assertThat(golden).as(recorded).isNotNull();
            assertThat(loop.description())
                    .as("%s; a change of tasks or internal topics is another version", recorded)
                    .isEqualTo(new String(golden.readAllBytes(), UTF_8));
        }
        assertThat(loop.description()).doesNotContain("KSTREAM-").doesNotContain("KTABLE-");
    }

    /** What the pure core makes of a log. */
    static List<Decision> decisionsOf(List<DomainEvent> log) {
        List<Decision> decisions = new ArrayList<>();
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        Optional<Scheduler> scheduler = Optional.empty();
        for (DomainEvent event : log) {
            if (event.event() instanceof SchedulerStarted started) {
                scheduler = Optional.of(Scheduler.of(started));
            }
            Step step = scheduler.orElseThrow().step(state, event);
            state = step.state();
            decisions.addAll(step.decisions());
        }
        return decisions;
    }
}

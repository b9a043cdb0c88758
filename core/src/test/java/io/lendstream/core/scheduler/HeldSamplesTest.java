package io.lendstream.core.scheduler;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.NodeSamples;
import io.lendstream.core.event.SampleSummary;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HeldSamplesTest {
    private static final Duration LONGEST = ofSeconds(20);
    private static final NodeId A = new NodeId("a");
    private static final NodeId B = new NodeId("b");
    private static final SchedulerSettings SETTINGS = SchedulerSettings.of(
            Map.of("heed-users", "true", "foreign-gone-after", "PT2M", "quarantine-evidence", "PT3M"));

    private static final Scheduler SCHEDULER = new Scheduler(Policies.parse("deepboot"), SETTINGS);

    private final Scenario story = new Scenario(SCHEDULER);
    private final HeldSamples held = new HeldSamples(LONGEST, SETTINGS);

    @BeforeEach
    void bothNodesAreKnown() {
        story.node("a", Pool.TRAINING, 1).node("b", Pool.TRAINING, 1);
        story.tell(sample(A, 1)).tell(sample(B, 1));
    }

    private GpuTelemetry sample(NodeId node, long sequence, String... users) {
        return sample(node, "boot-1", sequence, story.now(), List.of(users));
    }

    private static GpuTelemetry sample(NodeId node, String boot, long sequence, Instant at, List<String> users) {
        GpuSample gpu = GpuSample.of(new GpuId(node + "-g0")).build().withUsers(users);
        return new GpuTelemetry(node, Scenario.DOMAIN, boot, sequence, at, List.of(gpu));
    }

    private boolean hold(GpuTelemetry sample) {
        return held.hold(SCHEDULER, story.state(), logged(sample, story.state()));
    }

    private static DomainEvent logged(Event event, ClusterState state) {
        return new DomainEvent(
                Scenario.DOMAIN, state.epoch(), state.eventSequence() + 1, event.at(), Optional.empty(), event);
    }

    private List<SampleSummary> before(Event event) {
        return held.before(event, story.now());
    }

    @Test
    void samplesThatChangeNothingElseLeaveOneSumBehind() {
        for (long i = 2; i <= 4; i++) {
            story.after(ofSeconds(1));
            assertThat(hold(sample(A, i))).isTrue();
        }
        story.after(ofSeconds(1));
        assertThat(hold(sample(B, 2))).isTrue();
        Instant now = story.now();

        assertThat(held.dueAt(Scenario.DOMAIN, now.plusSeconds(15))).isEmpty();
        assertThat(held.dueAt(Scenario.DOMAIN, now.plusSeconds(17)))
                .containsExactly(new SampleSummary(
                        Scenario.DOMAIN,
                        now,
                        List.of(
                                new NodeSamples(
                                        A, NodeSamples.check("boot-1"), 4, now.minusSeconds(1), ofSeconds(1), 3),
                                new NodeSamples(B, NodeSamples.check("boot-1"), 2, now, ofSeconds(4), 1))));
        assertThat(held.dueAt(Scenario.DOMAIN, now.plusSeconds(100))).isEmpty();
    }

    @Test
    void theSumLeavesTheNodeAsTheSamplesWould() {
        Scenario plain = new Scenario(SCHEDULER);
        plain.node("a", Pool.TRAINING, 1).node("b", Pool.TRAINING, 1);
        plain.tell(sample(A, 1)).tell(sample(B, 1));
        for (long i = 2; i <= 9; i++) {
            story.after(ofMillis(900 + i));
            plain.after(ofMillis(900 + i));
            GpuTelemetry sample = sample(A, i);
            assertThat(hold(sample)).isTrue();
            plain.tell(sample);
        }

        held.dueAt(Scenario.DOMAIN, story.now().plusSeconds(20)).forEach(story::tell);

        assertThat(story.state().nodes().require(A))
                .isEqualTo(plain.state().nodes().require(A));
        assertThat(story.state().now()).isEqualTo(plain.state().now());
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aSampleThatChangesAnythingElseIsNotHeld() {
        story.after(ofSeconds(1));

        assertThat(hold(sample(A, 2, "process/1-1"))).as("a user").isFalse();
        assertThat(hold(sample(A, 1))).as("a repeated sample").isFalse();
        assertThat(hold(sample(new NodeId("c"), 1))).as("an unknown node").isFalse();
        assertThat(hold(sample(A, "boot-2", 2, story.now(), List.of())))
                .as("a new boot")
                .isFalse();
        assertThat(hold(sample(A, "boot-1", 2, story.now().minusSeconds(9), List.of())))
                .as("an older time")
                .isFalse();
        GpuSample erred = GpuSample.of(new GpuId("a-g0")).lastXid(13).build();
        assertThat(hold(new GpuTelemetry(A, Scenario.DOMAIN, "boot-1", 2, story.now(), List.of(erred))))
                .as("an error")
                .isFalse();
        assertThat(hold(sample(A, 2))).isTrue();
    }

    @Test
    void theFirstSampleOfANodeIsNotHeld() {
        story.node("c", Pool.TRAINING, 1).after(ofSeconds(1));

        assertThat(hold(sample(new NodeId("c"), 1))).isFalse();
    }

    @Test
    void aNodeThatIsHeardSeldomIsNotHeldBecauseItWouldSeemSilent() {
        story.after(ofSeconds(40));
        assertThat(hold(sample(A, 2))).isTrue();
        story.after(ofMillis(1));
        assertThat(hold(sample(B, 2))).isFalse();
    }

    @Test
    void nothingIsHeldWithoutTheSetting() {
        HeldSamples none = new HeldSamples(Duration.ZERO, SETTINGS);
        story.after(ofSeconds(1));

        assertThat(none.hold(SCHEDULER, story.state(), logged(sample(A, 2), story.state())))
                .isFalse();
    }

    @Test
    void whatIsHeldGoesBeforeWhatMayDependOnIt() {
        holdBoth();
        assertThat(before(new Tick(Scenario.DOMAIN, story.now())).get(0).nodes())
                .hasSize(2);
        holdBoth();
        assertThat(before(freeze()).get(0).nodes()).hasSize(2);
        holdBoth();
        assertThat(before(SCHEDULER.started(story.state(), story.now())).get(0).nodes())
                .hasSize(2);
        holdBoth();
        assertThat(before(sample(A, 99, "process/1-1")).get(0).nodes())
                .extracting(NodeSamples::nodeId)
                .containsExactly(A);
        assertThat(before(new NodeLeft(B, Scenario.DOMAIN, story.now())).get(0).nodes())
                .extracting(NodeSamples::nodeId)
                .containsExactly(B);
        assertThat(before(new Tick(Scenario.DOMAIN, story.now()))).isEmpty();
    }

    @Test
    void aRateLeavesWhatIsHeldUntilItIsDue() {
        holdBoth();
        Event rate = story.rateRecord("chat", 5, 1);

        assertThat(before(rate)).isEmpty();
        assertThat(held.before(rate, story.now().plusSeconds(20))).hasSize(1);
    }

    @Test
    void evidenceBySlowClockCountsFromTheTimeOfTheDomain() {
        holdBoth();

        assertThat(held.before(sample(A, 99, "process/1-1"), story.now().minusSeconds(1))
                        .get(0)
                        .nodes())
                .hasSize(2);
    }

    @Test
    void aSumOfAnotherBootOrOfOlderSamplesChangesNothing() {
        NodeState known = story.state().nodes().require(A);
        Instant later = story.now().plusSeconds(5);

        story.after(ofSeconds(5))
                .tell(new SampleSummary(
                        Scenario.DOMAIN,
                        later,
                        List.of(
                                new NodeSamples(A, NodeSamples.check("boot-2"), 7, later, ofSeconds(1), 3),
                                new NodeSamples(A, NodeSamples.check("boot-1"), 1, later, ofSeconds(1), 3),
                                new NodeSamples(
                                        new NodeId("x"), NodeSamples.check("boot-1"), 7, later, ofSeconds(1), 3))));

        assertThat(story.state().nodes().require(A)).isEqualTo(known);
        assertThat(story.state().nodes().contains(new NodeId("x"))).isFalse();
    }

    @Test
    void aTimeThatIsTooLongIsRefused() {
        assertThatThrownBy(() -> new HeldSamples(ofSeconds(31), SchedulerSettings.DEFAULTS))
                .hasMessage(
                        "scheduler.hold-samples is 31.0 s, but must be at least 0s and at most 30.0 s: half of scheduler.node-stale-after and of the 60 s after which an agent counts as silent. Make it shorter; with 0s each sample is written to the log at once.");
        assertThatThrownBy(
                        () -> new HeldSamples(ofSeconds(6), SchedulerSettings.of(Map.of("node-stale-after", "PT10S"))))
                .hasMessageContaining("at most 5.0 s");
        assertThatThrownBy(() -> new HeldSamples(ofSeconds(-1), SchedulerSettings.DEFAULTS))
                .hasMessageContaining("at least 0s");
    }

    @Test
    void aLargeDomainHasSeveralSums() {
        int nodes = HeldSamples.MOST_NODES + 1;
        for (int i = 0; i < nodes; i++) {
            story.node("n" + i, Pool.TRAINING, 1).tell(sample(new NodeId("n" + i), 1));
        }
        story.after(ofSeconds(1));
        for (int i = 0; i < nodes; i++) {
            assertThat(hold(sample(new NodeId("n" + i), 2))).isTrue();
        }

        assertThat(held.dueAt(Scenario.DOMAIN, story.now().plusSeconds(20)))
                .extracting(sum -> sum.nodes().size())
                .containsExactly(HeldSamples.MOST_NODES, 1);
    }

    @Test
    void whatIsDroppedIsNotPutThrough() {
        holdBoth();
        held.drop();

        assertThat(before(new Tick(Scenario.DOMAIN, story.now()))).isEmpty();
    }

    private ControlCommand freeze() {
        return new ControlCommand(
                Scenario.DOMAIN, "1", story.now(), "me", ControlCommand.Kind.FREEZE, Optional.empty(), List.of(), "");
    }

    private void holdBoth() {
        story.after(ofSeconds(1));
        long sequence = story.now().getEpochSecond();
        assertThat(hold(sample(A, sequence))).isTrue();
        assertThat(hold(sample(B, sequence))).isTrue();
    }

    /** A scheduler's service, as far as it matters here. */
    private static final class Service {
        private final Scheduler scheduler;
        private final HeldSamples held;
        private final List<String> decided = new ArrayList<>();
        private final List<DomainEvent> log = new ArrayList<>();
        private final List<Decision> decisions = new ArrayList<>();
        private ClusterState state = ClusterState.empty(Scenario.DOMAIN);

        Service(Scheduler scheduler, Duration longest) {
            this.scheduler = scheduler;
            this.held = new HeldSamples(longest, scheduler.settings());
            put(scheduler.started(state, Scenario.START), Scenario.START);
        }

        void take(Event event, Instant at) {
            Optional<Instant> timer = scheduler.nextTimer(state);
            for (int i = 0; i < 100 && timer.isPresent() && !timer.get().isAfter(at); i++) {
                Instant time = timer.get().isAfter(state.now()) ? timer.get() : state.now();
                putAfterHeld(new Tick(Scenario.DOMAIN, time), time);
                timer = scheduler.nextTimer(state);
            }
            held.dueAt(Scenario.DOMAIN, later(at)).forEach(sum -> put(sum, sum.at()));
            DomainEvent logged = new DomainEvent(
                    Scenario.DOMAIN, state.epoch(), state.eventSequence() + 1, at, Optional.empty(), event);
            if (!held.hold(scheduler, state, logged)) {
                putAfterHeld(event, at);
            }
        }

        private Instant later(Instant at) {
            return at.isAfter(state.now()) ? at : state.now();
        }

        private void putAfterHeld(Event event, Instant at) {
            held.before(event, later(at)).forEach(sum -> put(sum, sum.at()));
            put(event, at);
        }

        private void put(Event event, Instant at) {
            long epoch = event.asStarted().map(started -> started.epoch()).orElse(state.epoch());
            DomainEvent logged =
                    new DomainEvent(Scenario.DOMAIN, epoch, state.eventSequence() + 1, at, Optional.empty(), event);
            Step step = scheduler.step(state, logged);
            log.add(logged);
            state = step.state();
            for (Decision decision : step.decisions()) {
                decisions.add(decision);
                decided.add("%s %s %s %s %s %s"
                        .formatted(
                                decision.id(),
                                decision.at(),
                                decision.deadline(),
                                decision.advisory(),
                                decision.action(),
                                decision.reason().text()));
            }
        }

        List<Lease> leases() {
            return state.gpus().stream()
                    .map(gpu -> gpu.lease(Scenario.DOMAIN, state.epoch()))
                    .toList();
        }

        Map<GpuId, Owner> owners() {
            Map<GpuId, Owner> owners = new TreeMap<>();
            state.gpus().values().forEach(gpu -> owners.put(gpu.gpuId(), gpu.owner()));
            return owners;
        }
    }

    @Seeds(25)
    void sumsLeadToTheOwnersAndDecisionsOfTheSamples(long seed) {
        Scheduler scheduler = new Scheduler(RandomHistory.of(seed).scheduler().policy(), SETTINGS);
        Service plain = new Service(scheduler, Duration.ZERO);
        Service summed = new Service(scheduler, LONGEST);
        for (SampledHistory.Arrival arrival : SampledHistory.of(seed)) {
            Instant at = arrival.event().asTelemetry().map(GpuTelemetry::at).orElse(arrival.at());
            plain.take(arrival.event(), at);
            summed.take(arrival.event(), at);
            assertThat(summed.owners()).as("%s", arrival).isEqualTo(plain.owners());
            assertThat(summed.decided).as("%s", arrival).isEqualTo(plain.decided);
        }
        assertThat(samples(summed)).isLessThanOrEqualTo(samples(plain));
        assertThat(HistoryChecker.check(Scenario.DOMAIN, summed.log, summed.decisions, summed.leases())
                        .violations())
                .extracting(Violation::rule)
                .doesNotContain("replay", "log");
    }

    private static long samples(Service service) {
        return service.log.stream()
                .filter(logged -> logged.event().asTelemetry().isPresent())
                .count();
    }
}

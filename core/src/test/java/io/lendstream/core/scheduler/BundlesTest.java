package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.GpuState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A node that is lent as a whole: nothing is bound before it is empty, and a reclaim of one GPU takes all. */
@Tag("long")
class BundlesTest {
    private static final Abilities NODES = Abilities.USUAL.withGranularity(Granularity.NODE);

    private static Scenario nodes(SchedulerSettings settings, int nodes, int gpus) {
        Scenario story = new Scenario(new Scheduler(Policies.parse("deepboot"), settings));
        for (int i = 0; i < nodes; i++) {
            story.node("infer-" + i, Pool.INFERENCE, gpus);
        }
        return story.actuator("one", NODES);
    }

    private static SchedulerSettings limits(double share, int perMinute) {
        return SchedulerSettings.DEFAULTS.withChangeLimits(
                new ChangeLimits(share, perMinute, 1000, Duration.ZERO, QuietWindows.NONE));
    }

    /** Some minutes at a rate, with reports of all that is decided. */
    private static Scenario grown(Scenario story, double rate) {
        for (int i = 0; i < 40; i++) {
            story.rate("chat", rate).settled().after(ofSeconds(15)).settled();
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        return story;
    }

    private static Set<NodeId> nodesOf(Scenario story, String label) {
        Set<NodeId> nodes = new TreeSet<>();
        story.state().gpus().stream()
                .filter(gpu -> gpu.owner().label().equals(label))
                .map(GpuState::nodeId)
                .forEach(nodes::add);
        return nodes;
    }

    @Test
    void aNodeWithAReplicaIsNotLent() {
        Scenario story = grown(
                nodes(SchedulerSettings.DEFAULTS, 2, 4)
                        .service("chat", 1)
                        .settled()
                        .rigidJob("a", 4),
                1);

        assertThat(story.count("serving")).isEqualTo(1);
        assertThat(story.count("lent")).isEqualTo(4);
        assertThat(nodesOf(story, "lent")).doesNotContainAnyElementsOf(nodesOf(story, "serving"));
        assertThat(story.decisions())
                .filteredOn(decision -> decision.reason().is(ReasonCode.ABILITY))
                .isNotEmpty()
                .first()
                .satisfies(hold -> {
                    assertThat(hold.action()).isEqualTo(Action.Hold.without("granularity"));
                    assertThat(hold.reason().text())
                            .startsWith("the plan leaves out what drivers cannot do: actuator one lends whole nodes"
                                    + " only: node infer-")
                            .contains("is lent as a whole, and a unit of it is in use");
                });
    }

    /** Either job could give the one GPU alone. */
    @Test
    void aReclaimOfOneGpuTakesAllEight() {
        Scenario story = grown(
                nodes(SchedulerSettings.DEFAULTS, 1, 8)
                        .service("chat", 0)
                        .settled()
                        .rigidJob("a", 4)
                        .rigidJob("b", 4),
                0);
        assertThat(story.count("lent")).isEqualTo(8);

        story.rate("chat", 5);

        assertThat(reclaimed(story)).hasSize(8);
        assertThat(story.count("releasing")).isEqualTo(8);
    }

    private static List<GpuId> reclaimed(Scenario story) {
        return story.last().stream()
                .flatMap(decision -> decision.action().asReclaim().stream())
                .flatMap(reclaim -> reclaim.gpus().stream())
                .toList();
    }

    @Test
    void noReplicaStartsBeforeTheLastReleaseIsReported() {
        Scenario story = grown(
                nodes(SchedulerSettings.DEFAULTS, 1, 4)
                        .service("chat", 0)
                        .settled()
                        .rigidJob("a", 2),
                0);
        assertThat(story.count("lent")).isEqualTo(2);
        assertThat(story.count("free")).isEqualTo(2);

        story.rate("chat", 5);

        Decision reclaim = story.last().get(0);
        List<GpuId> lent = reclaimed(story);
        assertThat(lent).hasSize(2);
        Optional<Tenant> job = Optional.of(new Tenant.Job(new JobId("a")));
        story.tell(story.report(reclaim.id(), Outcome.RELEASED, lent.subList(0, 1), job));
        assertThat(story.lastKinds()).doesNotContain("serve");
        story.rate("chat", 5);
        assertThat(story.lastKinds()).as("no further reclaim, and no replica").isEmpty();

        story.tell(story.report(reclaim.id(), Outcome.RELEASED, lent.subList(1, 2), job));

        assertThat(story.lastKinds()).contains("serve");
    }

    @Test
    void aJobStartsOnANodeOnlyWhenItsSleepingReplicasAreGone() {
        Scenario story = nodes(SchedulerSettings.DEFAULTS, 1, 2)
                .service("chat", 0)
                .settled()
                .rate("chat", 15)
                .settled();
        assertThat(story.count("serving")).isEqualTo(2);
        for (int i = 0; i < 20 && story.count("sleeping") < 2; i++) {
            story.rate("chat", 0).settled().after(ofSeconds(15)).settled();
        }
        assertThat(story.count("sleeping")).isEqualTo(2);

        story.rigidJob("a", 1);
        for (int i = 0; i < 8 && !story.lastKinds().contains("idle"); i++) {
            story.rate("chat", 0).after(ofSeconds(15));
        }

        assertThat(story.count("releasing"))
                .as("also the GPU that the job does not get")
                .isEqualTo(2);
        List<Decision> stops = story.last();
        assertThat(stops).noneMatch(decision -> decision.action().asLend().isPresent());
        story.settled();
        assertThat(story.count("lent")).isEqualTo(1);
    }

    @Test
    void theShareLentCountsWholeNodes() {
        Scenario story = grown(
                nodes(limits(0.7, 1000), 2, 4)
                        .service("chat", 0)
                        .settled()
                        .rigidJob("a", 4)
                        .rigidJob("b", 4),
                0);

        assertThat(story.count("lent")).isEqualTo(4);
        assertThat(nodesOf(story, "lent")).hasSize(1);
        assertThat(story.decisions())
                .filteredOn(decision -> decision.reason().is(ReasonCode.ABILITY))
                .isNotEmpty()
                .first()
                .satisfies(hold -> assertThat(hold.reason().text())
                        .isEqualTo(
                                "the plan leaves out what drivers cannot do: node infer-1 (4 GPUs) can only be lent as"
                                        + " a whole: scheduler.max-share-lent is 0.7, so at most 5 GPUs may be lent"));
    }

    @Test
    void aNodeThatDoesNotFitTheLimitIsNotLentAtAllAndTheHoldSaysSo() {
        Scenario story =
                grown(nodes(limits(1, 3), 1, 4).service("chat", 0).settled().rigidJob("a", 1), 0);

        assertThat(story.count("lent")).isZero();
        assertThat(story.decisions())
                .filteredOn(decision -> decision.reason().is(ReasonCode.ABILITY))
                .isNotEmpty()
                .first()
                .satisfies(hold -> assertThat(hold.reason().text())
                        .startsWith("the plan leaves out what drivers cannot do: node infer-0 (4 GPUs) can only be lent"
                                + " as a whole: 4 new loans would begin, but only 3 may begin now"));
    }

    @Test
    void allNodesOfAnActuatorThatLendsThemTogetherAreOneBundle() {
        Scenario story = new Scenario(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS))
                .node("infer-0", Pool.INFERENCE, 2)
                .node("infer-1", Pool.INFERENCE, 2)
                .actuator("one", Abilities.USUAL.withGranularity(Granularity.NODE_GROUP))
                .service("chat", 1)
                .settled()
                .rigidJob("a", 2);

        grown(story, 1);

        assertThat(story.count("lent")).isZero();
    }

    private static Scenario racks(Abilities abilities, String... racks) {
        Scenario story = new Scenario(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS));
        for (int i = 0; i < racks.length; i++) {
            story.node("infer-" + i, Pool.INFERENCE, 2);
            if (!racks[i].isEmpty()) {
                story.rack("infer-" + i, racks[i]);
            }
        }
        return story.actuator("one", abilities);
    }

    @Test
    void theNodesOfARackAreOneBundle() {
        Scenario story = grown(
                racks(Abilities.USUAL.inGroupsBy("rack"), "r1", "r1", "r2", "r2")
                        .service("chat", 1)
                        .settled()
                        .rigidJob("a", 4),
                1);

        assertThat(nodesOf(story, "lent")).containsExactly(new NodeId("infer-2"), new NodeId("infer-3"));
        assertThat(story.count("lent")).isEqualTo(4);

        story.rate("chat", 60);

        assertThat(reclaimed(story)).as("one GPU more takes both nodes").hasSize(4);
    }

    @Test
    void aChangedLabelMovesANodeToAnotherBundle() {
        Scenario story = grown(
                racks(Abilities.USUAL.inGroupsBy("rack"), "r1", "r1")
                        .service("chat", 1)
                        .settled()
                        .rigidJob("a", 2),
                1);
        assertThat(story.count("lent")).isZero();

        story.rack("infer-1", "r2");

        assertThat(grown(story, 1).count("lent")).isEqualTo(2);
    }

    @Test
    void nodesWithoutTheLabelAreOneBundle() {
        Scenario story = grown(
                racks(Abilities.USUAL.inGroupsBy("rack"), "", "")
                        .service("chat", 1)
                        .settled()
                        .rigidJob("a", 2),
                1);

        assertThat(story.count("lent")).isZero();
        assertThat(firstHold(story))
                .contains("node group without label rack of actuator one is lent as a whole, and a unit of it is in"
                        + " use");
    }

    private static String firstHold(Scenario story) {
        return story.decisions().stream()
                .filter(decision -> decision.reason().is(ReasonCode.ABILITY))
                .findFirst()
                .orElseThrow()
                .reason()
                .text();
    }

    private static Scenario unavailable(Scenario story, NodeId node) {
        Node known = story.state().nodes().require(node).node();
        return story.tell(new Node(
                node, Scenario.DOMAIN, known.pool(), "boot-1", story.now(), NodeStatus.UNAVAILABLE, known.gpus()));
    }

    /** A plan with GPUs of the group could not be carried out, and the job would get none at all. */
    @Test
    void aGroupWithANodeThatIsNotReadyIsNotShownToPlans() {
        Scenario story = racks(Abilities.USUAL.withGranularity(Granularity.NODE_GROUP), "", "")
                .node("train", Pool.TRAINING, 1);

        grown(
                unavailable(story, new NodeId("infer-1"))
                        .service("chat", 0)
                        .settled()
                        .job("a", 3),
                0);

        assertThat(story.job("a").gpus()).isEqualTo(1);
        assertThat(firstHold(story))
                .startsWith(
                        "the plan leaves out what drivers cannot do: actuator one lends whole groups of nodes only: node group"
                                + " of actuator one is lent as a whole, and its node infer-1 is not ready");
    }

    @Test
    void freeGpusOfANodeThatIsNotReadyAreNotComing() {
        Scenario story = grown(
                racks(Abilities.USUAL.withGranularity(Granularity.NODE_GROUP), "", "", "")
                        .service("chat", 0)
                        .settled()
                        .rigidJob("a", 2),
                0);
        assertThat(story.count("lent")).isEqualTo(2);
        Set<NodeId> idle = nodesOf(story, "free");
        idle.removeAll(nodesOf(story, "lent"));
        NodeId away = idle.iterator().next();

        unavailable(story, away).rate("chat", 5);

        assertThat(reclaimed(story)).hasSize(2);
        DomainEvent last = story.log().get(story.log().size() - 1);
        StepBuilder builder = new StepBuilder(story.state(), last, StepListener.NONE);
        assertThat(new InferencePool(builder).coming())
                .hasSize(4)
                .extracting(GpuState::nodeId)
                .doesNotContain(away);
    }

    /** The node where three GPUs are out of service gives one GPU back, not four. */
    @Test
    void aReclaimCountsTheGpusThatServicesCanUse() {
        Scenario story = grown(
                nodes(SchedulerSettings.DEFAULTS, 2, 4)
                        .service("chat", 0)
                        .settled()
                        .rigidJob("a", 1),
                0);
        assertThat(story.count("lent")).isEqualTo(1);
        NodeId node = nodesOf(story, "lent").iterator().next();
        List<GpuId> free = story.state().gpus().stream()
                .filter(gpu -> gpu.nodeId().equals(node) && gpu.isFree())
                .map(GpuState::gpuId)
                .toList();
        story.tell(story.report(
                story.decisions().get(0).id(), Outcome.HOLDS, free, Optional.of(new Tenant.Job(new JobId("stray")))));
        assertThat(story.count("quarantined")).isEqualTo(3);
        grown(story.rigidJob("b", 4), 0);
        assertThat(story.count("lent")).isEqualTo(5);

        story.rate("chat", 15);

        assertThat(reclaimed(story)).hasSizeGreaterThan(1);
    }

    /** Plans know whole GPUs only: no policy takes the instance back. */
    @Test
    void aJobOnAnInstanceFromBeforeDoesNotKeepGpusFromServices() {
        Scenario story = new Scenario(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS))
                .switchableNode("infer", Pool.INFERENCE, "3g.40gb@0", "")
                .service("chat", 1)
                .settled()
                .smallJob("a", 1, 20);
        for (int i = 0; i < 12; i++) {
            story.after(ofSeconds(15)).settled().rate("chat", 1).settled();
        }
        assertThat(story.job("a").isOnSlice()).isTrue();
        story.actuator("one", NODES).switchableNode("infer", Pool.INFERENCE, "3g.40gb@0", "", "");

        story.rate("chat", 15);

        assertThat(reclaimed(story)).containsExactly(new GpuId("infer-g0/0:4"));
        story.settled();
        assertThat(story.count("serving")).isEqualTo(2);
    }

    @Seeds(100)
    void noGroupHasJobsAndReplicasAtOnce(long seed) {
        RandomHistory history = RandomHistory.of(seed, Abilities.USUAL.inGroupsBy("rack"));
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN, started -> history.scheduler());
        history.log().forEach(checker::take);

        assertThat(checker.verdict(history.decisions(), List.of()).violations())
                .extracting(Violation::rule)
                .doesNotContain("bundle", "one owner", "gang", "cap", "bind before release", "replay");
    }

    @Seeds(100)
    void noNodeHasJobsAndReplicasAtOnce(long seed) {
        RandomHistory history = RandomHistory.of(seed, NODES);
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN, started -> history.scheduler());
        history.log().forEach(checker::take);

        assertThat(checker.verdict(history.decisions(), List.of()).violations())
                .extracting(Violation::rule)
                .doesNotContain("bundle", "one owner", "gang", "cap", "bind before release", "replay");
    }

    @Seeds(50)
    void shortcutsHoldForGroupsOfNodes(long seed) {
        RandomHistory history = RandomHistory.of(seed, Abilities.USUAL.withGranularity(Granularity.NODE_GROUP));
        ShortcutOracle oracle = new ShortcutOracle(history.scheduler(), WorkDue.BY_EVENT);

        assertThat(oracle.firstError(history.log())).as("seed %d", seed).isEmpty();
    }

    @Seeds(100)
    void shortcutsHoldForWholeNodes(long seed) {
        RandomHistory history = RandomHistory.of(seed, NODES);
        ShortcutOracle oracle = new ShortcutOracle(history.scheduler(), WorkDue.BY_EVENT);

        assertThat(oracle.firstError(history.log())).as("seed %d", seed).isEmpty();
    }
}

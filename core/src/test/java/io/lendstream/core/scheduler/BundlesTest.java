package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.JobPhase;
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
import org.junit.jupiter.api.Test;

/** A node that is lent as a whole: nothing is bound before it is empty, and a reclaim of one GPU takes all. */
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

    @Seeds(200)
    void noNodeHasJobsAndReplicasAtOnce(long seed) {
        RandomHistory history = RandomHistory.of(seed, NODES);
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN, started -> history.scheduler());
        history.log().forEach(checker::take);

        assertThat(checker.verdict(history.decisions(), List.of()).violations())
                .extracting(Violation::rule)
                .doesNotContain("bundle", "one owner", "gang", "cap", "bind before release", "replay");
    }

    @Seeds(100)
    void shortcutsHoldForWholeNodes(long seed) {
        RandomHistory history = RandomHistory.of(seed, NODES);
        ShortcutOracle oracle = new ShortcutOracle(history.scheduler(), WorkDue.BY_EVENT);

        assertThat(oracle.firstError(history.log())).as("seed %d", seed).isEmpty();
    }
}

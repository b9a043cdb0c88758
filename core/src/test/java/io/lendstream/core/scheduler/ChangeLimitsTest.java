package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What keeps a mistake small; {@link QuietWindowsTest} tells when nothing is planned. */
class ChangeLimitsTest {
    private static final ChangeLimits USUAL = ChangeLimits.DEFAULTS;

    private Scenario story = Scenario.of("deepboot");

    private void limited(ChangeLimits limits) {
        story = new Scenario(
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withChangeLimits(limits)));
    }

    private static ChangeLimits transfers(int most) {
        return new ChangeLimits(1, 1000, most, Duration.ZERO, QuietWindows.NONE);
    }

    /** Nine jobs of one GPU each want the eight idle GPUs of inference and training's only one. */
    private void nineJobs() {
        story.node("train", Pool.TRAINING, 1)
                .node("infer", Pool.INFERENCE, 9)
                .service("chat", 1)
                .settled();
        for (int i = 0; i < 9; i++) {
            story.rigidJob("job-" + i, 1);
        }
    }

    private long lentNow() {
        return story.last().stream()
                .map(Decision::action)
                .filter(Action.Lend.class::isInstance)
                .mapToLong(lend -> lend.gpus().size())
                .sum();
    }

    /** Goes on to the next plan, with a rate right before it. */
    private void nextPlan() {
        story.after(ofSeconds(50)).settled().rate("chat", 1).settled().after(ofSeconds(10));
    }

    @AfterEach
    void theHistoryIsClean() {
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void usuallyAPlanLendsWhateverIsIdle() {
        limited(USUAL);
        nineJobs();

        nextPlan();

        assertThat(lentNow()).isEqualTo(8);
    }

    @Test
    void noMoreGpusAreSetOnTheirWayThanMayBe() {
        limited(transfers(3));
        nineJobs();

        nextPlan();
        assertThat(lentNow()).isEqualTo(3);
        nextPlan();
        assertThat(lentNow()).as("without a report on the first").isZero();
    }

    @Test
    void aMissedSloHalvesThatAndEveryPlanWithoutOneRaisesItAgain() {
        limited(transfers(8));
        nineJobs();
        story.after(ofSeconds(5)).served("chat", 1, 5.0, List.of());
        story.served("chat", 1, 5.0, List.of());
        assertThat(story.state().pacing().orElseThrow().transfers())
                .as("halved once for misses within a minute")
                .isEqualTo(4);

        story.after(ofSeconds(45)).settled().rate("chat", 1).settled().after(ofSeconds(10));
        assertThat(lentNow()).isEqualTo(4);
        story.settled();
        nextPlan();

        assertThat(lentNow()).isEqualTo(4);
        assertThat(story.state().pacing().orElseThrow().transfers()).isEqualTo(5);
        story.settled();
        for (int plan = 0; plan < 3; plan++) {
            nextPlan();
        }
        assertThat(story.state().pacing()).isEmpty();
    }

    @Test
    void aMissedSloDoesNotSlowReclaims() {
        limited(transfers(8));
        nineJobs();
        nextPlan();
        story.settled();

        story.served("chat", 75, 5.0, List.of());

        assertThat(story.last().stream().filter(decision -> decision.action() instanceof Action.Reclaim))
                .hasSize(8);
        story.settled();
    }

    @Test
    void aJobThatWasJustChangedIsLeftAloneByPlansButNotByDemand() {
        limited(new ChangeLimits(1, 1000, 1000, ofMinutes(5), QuietWindows.NONE));
        story.node("infer", Pool.INFERENCE, 5).service("chat", 1).settled();
        story.job("a", 4);
        for (int plan = 1; plan <= 5; plan++) {
            nextPlan();
            story.settled().progress("a", JobPhase.RUNNING).settled();
            assertThat(story.job("a").gpus()).as("after plan %d", plan).isEqualTo(1);
        }

        nextPlan();
        story.settled();
        assertThat(story.job("a").gpus()).isEqualTo(2);
        story.rate("chat", 75);

        assertThat(story.lastKinds()).contains("reclaim");
        story.settled();
    }

    @Test
    void noPlanIsMadeInAQuietWindowWhileInferenceIsGivenWhatItNeeds() {
        limited(new ChangeLimits(1, 1000, 1000, Duration.ZERO, QuietWindows.parse("thu 00:02-00:10")));
        story.node("infer", Pool.INFERENCE, 5).service("chat", 1).settled();
        story.job("a", 4);
        nextPlan();
        story.settled();
        assertThat(story.job("a").gpus()).isEqualTo(1);

        for (int minute = 2; minute < 10; minute++) {
            nextPlan();
            assertThat(story.last().get(0).reason().text())
                    .isEqualTo("no training plan is made: the quiet window thu 00:02-00:10 UTC is open");
            assertThat(story.lastKinds()).isSubsetOf("hold", "renew");
        }
        story.rate("chat", 41).settled();
        assertThat(story.job("a").gpus()).isZero();
        story.rate("chat", 1).settled();
        for (int plan = 0; plan < 3; plan++) {
            nextPlan();
            story.settled();
        }

        assertThat(story.job("a").gpus()).isPositive();
    }

    @Test
    void settingsAreReadBackFromTheLogOfADomain() {
        SchedulerSettings settings = SchedulerSettings.DEFAULTS.withChangeLimits(
                new ChangeLimits(0.5, 7, 3, ofSeconds(90), QuietWindows.parse("08:00-10:00,sat-sun 20:00-02:00")));

        assertThat(SchedulerSettings.of(settings.toMap())).isEqualTo(settings);
        assertThat(SchedulerSettings.of(Map.of())).isEqualTo(SchedulerSettings.DEFAULTS);
    }

    @Test
    void boundsAreNamed() {
        assertThatThrownBy(() -> transfers(0)).hasMessageContaining("scheduler.max-transfers must be at least 1");
        assertThatThrownBy(() -> new ChangeLimits(1.1, 1, 1, Duration.ZERO, QuietWindows.NONE))
                .hasMessageContaining("between 0 and 1");
    }

    /** Of four nodes two are silent for two minutes, after they have said this of themselves. */
    private long lentWhileHalfIsSilent(NodeStatus said) {
        limited(USUAL);
        story.node("train", Pool.TRAINING, 1)
                .node("infer", Pool.INFERENCE, 4)
                .node("third", Pool.INFERENCE, 4)
                .node("fourth", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled();
        for (String node : List.of("train", "infer", "third", "fourth")) {
            story.sample(node, Optional.empty());
        }
        for (String node : List.of("third", "fourth")) {
            Node known = story.state().nodes().require(new NodeId(node)).node();
            story.tell(new Node(
                    known.nodeId(), known.domain(), known.pool(), known.bootId(), story.now(), said, known.gpus()));
        }
        for (int i = 0; i < 9; i++) {
            story.after(ofSeconds(15));
            story.sample("train", Optional.empty()).sample("infer", Optional.empty());
            story.rate("chat", 1).settled();
        }
        story.rigidJob("a", 1).rigidJob("b", 1);
        for (int i = 0; i < 4; i++) {
            story.after(ofSeconds(15));
            story.sample("train", Optional.empty()).sample("infer", Optional.empty());
            story.rate("chat", 1).settled();
        }
        return story.decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Lend)
                .count();
    }

    @Test
    void nothingIsLentWhileTooManyNodesAreSilent() {
        assertThat(lentWhileHalfIsSilent(NodeStatus.READY)).isZero();
    }

    @Test
    void aNodeThatSaidThatItWouldPauseIsNotTakenForSilent() {
        assertThat(lentWhileHalfIsSilent(NodeStatus.PAUSED)).isEqualTo(1);
    }
}

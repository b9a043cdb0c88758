package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.afe.PauseCosts;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.HostNeed;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.ScheduledJob;
import io.lendstream.core.state.PausedAt;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A job that loses all its GPUs is paused in host memory if that is possible in time. */
class PausingTest {
    private static final long GIB = 1L << 30;
    private static final NodeId INFER = new NodeId("infer");
    private static final Abilities SUSPENDS = Abilities.USUAL.withSuspend(true);
    private static final PauseCosts COSTS = new PauseCosts(ofSeconds(10), ofSeconds(4), ofSeconds(12), 32 * GIB);

    /** A rigid job on two lent GPUs of a node that also has a replica; last, its report. */
    private static Scenario lent(Abilities abilities, int hostGib, PauseCosts costs) {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 3)
                .host("infer", 48, hostGib)
                .actuator("one", abilities)
                .service("chat", 1)
                .settled();
        TrainingJob job = story.jobRecord("a", 2, false);
        story.tell(job.costing(job.traits().costs().pausing(costs)))
                .after(ofSeconds(50))
                .rate("chat", 1)
                .settled()
                .after(ofSeconds(11))
                .settled()
                .progress("a", JobPhase.RUNNING);
        assertThat(story.count("lent")).isEqualTo(2);
        return story;
    }

    private static Scenario paused() {
        Scenario story = lent(SUSPENDS, 96, COSTS).rate("chat", 25);
        assertThat(story.job("a").paused()).isPresent();
        return story.settled();
    }

    /** The last decision about a job. */
    private static Decision change(Scenario story) {
        List<Decision> changes = story.decisions().stream()
                .filter(decision -> decision.action().jobChange().isPresent())
                .toList();
        return changes.get(changes.size() - 1);
    }

    private static Allocation allocation(Scenario story) {
        return change(story).action().jobChange().orElseThrow().allocation();
    }

    /** Lets the load be low until the job has GPUs again. */
    private static Scenario resumed(Scenario story) {
        for (int i = 0; i < 80 && story.job("a").gpus() == 0; i++) {
            story.after(ofSeconds(15)).settled().rate("chat", 1).settled();
        }
        assertThat(story.job("a").gpus()).isEqualTo(2);
        return story;
    }

    private static void isStopped(Scenario story) {
        story.rate("chat", 25);

        assertThat(story.job("a").gpus()).isZero();
        assertThat(story.job("a").paused()).isEmpty();
        assertThat(allocation(story).mechanism()).isEqualTo(Mechanism.RESTART);
        assertThat(story.settled().verdict().violations()).isEmpty();
    }

    @Test
    void aReclaimPausesAJobThatCannotGoOn() {
        Scenario story = lent(SUSPENDS, 96, COSTS).rate("chat", 25);

        assertThat(change(story).isReclaim()).isTrue();
        assertThat(allocation(story)).isEqualTo(Allocation.suspended(Mechanism.PAUSE));
        assertThat(change(story).reason().text())
                .endsWith("it is paused with 32.0 GiB in the host memory of node infer");
        assertThat(change(story).reason().numbers()).containsEntry("hostMemoryBytes", 32.0 * GIB);
        assertThat(story.job("a").paused()).contains(new PausedAt(INFER, 32 * GIB, story.now()));
        assertThat(story.count("releasing")).isEqualTo(2);

        story.settled();

        assertThat(story.count("serving")).isEqualTo(3);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aJobIsStoppedIfTheActuatorCannotSuspendIt() {
        Scenario story = lent(Abilities.USUAL, 96, COSTS);

        isStopped(story);

        assertThat(change(story).reason().text())
                .endsWith("it is stopped, not paused: actuator one of node infer has no ability suspend");
    }

    @Test
    void aJobIsStoppedIfThePauseTakesAsLongAsTheNotice() {
        Scenario story = lent(SUSPENDS, 96, new PauseCosts(ofSeconds(45), ofSeconds(4), ofSeconds(12), 32 * GIB));

        isStopped(story);

        assertThat(change(story).reason().text()).doesNotContain("paused");
    }

    @Test
    void aJobIsStoppedIfItsNodeHasTooLittleMemory() {
        isStopped(lent(SUSPENDS, 96, new PauseCosts(ofSeconds(10), ofSeconds(4), ofSeconds(12), 65 * GIB)));
    }

    @Test
    void aJobThatHasNotYetTrainedIsStopped() {
        Scenario story = lent(SUSPENDS, 96, COSTS).progress("a", JobPhase.RESCALING);

        isStopped(story);
    }

    @Test
    void aJobResumesOnItsNode() {
        Scenario story = resumed(paused());

        assertThat(allocation(story).mechanism()).isEqualTo(Mechanism.PAUSE);
        assertThat(story.job("a").paused()).isEmpty();
        assertThat(story.settled().verdict().violations()).isEmpty();
    }

    @Test
    void whatAResumeTakesIsNotTakenForAStart() {
        Scenario story = paused();

        assertThat(firstAfter(story, Mechanism.PAUSE)).isEqualTo(ofSeconds(24));
        assertThat(firstAfter(story, Mechanism.RESTART)).isEqualTo(ofSeconds(14));
    }

    /** The cost of a start after a change that took 4 s. */
    private static Duration firstAfter(Scenario story, Mechanism mechanism) {
        Allocation next = new Allocation(List.of(new GpuId("infer-g1")), 64, 0, 1, mechanism);
        return story.job("a")
                .allocated(next, Optional.empty(), new DecisionId(Scenario.DOMAIN, 1, 99), story.now(), story.now())
                .settled(Optional.of(ofSeconds(4)))
                .costs()
                .first();
    }

    @Test
    void onAnotherNodeItStartsAgain() {
        Scenario story = resumed(paused().node("train", Pool.TRAINING, 2));

        assertThat(story.job("a").allocation().gpus())
                .allMatch(gpu -> gpu.value().startsWith("train"));
        assertThat(allocation(story).mechanism()).isEqualTo(Mechanism.RESTART);
        assertThat(story.job("a").paused()).isEmpty();
    }

    @Test
    void policiesSeeTheCostOfAResume() {
        Scenario story = paused();
        var view = new ScheduledJob(story.job("a"), story.now(), 3, false, ScheduledJob.Kinds.ALIKE);

        assertThat(view.costs().first()).isEqualTo(COSTS.resumeElsewhere());
        assertThat(view.costs().pausing()).contains(COSTS);
    }

    @Test
    void aPauseEndsWithItsNode() {
        Scenario story = paused();

        story.tell(new NodeLeft(INFER, Scenario.DOMAIN, story.now()));

        assertThat(story.job("a").paused()).isEmpty();
        assertThat(story.state().clusterIndex().jobs().paused().isEmpty()).isTrue();
    }

    @Test
    void aPauseEndsWhenTheJobIsKilledOrWaitsOrIsOver() {
        Tenant job = new Tenant.Job(new JobId("a"));
        Scenario killed = lent(SUSPENDS, 96, COSTS).rate("chat", 25);
        killed.tell(killed.report(change(killed).id(), Outcome.FORCED, List.of(), Optional.of(job)));
        assertThat(killed.job("a").paused()).isEmpty();

        assertThat(paused().progress("a", JobPhase.PAUSED).job("a").paused()).isPresent();
        assertThat(paused().progress("a", JobPhase.QUEUED).job("a").paused()).isEmpty();
    }

    @Test
    void anActuatorDropsAPausedJobThatIsOverBeforeOthersGetItsMemory() {
        Scenario story = paused().progress("a", JobPhase.CANCELLED);

        assertThat(story.lastKinds()).containsExactly("resize");
        assertThat(allocation(story)).isEqualTo(Allocation.suspended(Mechanism.RESTART));
        assertThat(change(story).reason().text())
                .isEqualTo("a was cancelled and releases the host memory of node infer");
        assertThat(story.job("a").paused()).isPresent();
        assertThat(story.state().clusterIndex().jobs().paused().isEmpty()).isFalse();

        story.settled();

        assertThat(story.job("a").paused()).isEmpty();
        assertThat(story.state().clusterIndex().jobs().paused().isEmpty()).isTrue();
        int decided = story.decisions().size();
        assertThat(story.after(ofMinutes(10))
                        .decisions()
                        .subList(decided, story.decisions().size()))
                .noneMatch(decision -> decision.action().jobChange().isPresent());
    }

    @Test
    void withoutAnAnswerTheMemoryOfAJobThatIsOverIsFreeAtTheDeadline() {
        Scenario story = paused().progress("a", JobPhase.CANCELLED).after(ofMinutes(5));

        assertThat(story.job("a").paused()).isEmpty();
    }

    @Test
    void aJobThatIsOverWhileItPausesIsDroppedAfterwards() {
        Scenario story = lent(SUSPENDS, 96, COSTS).rate("chat", 25);
        List<Decision> pause = story.last();
        story.progress("a", JobPhase.FINISHED);
        assertThat(story.job("a").paused()).isPresent();

        pause.forEach(decision -> story.answers(decision).forEach(story::tell));

        assertThat(allocation(story)).isEqualTo(Allocation.suspended(Mechanism.RESTART));
        assertThat(story.settled().job("a").paused()).isEmpty();
    }

    @Test
    void aLateReportOnAnEarlierDecisionIsNotAboutThePause() {
        Scenario story = lent(SUSPENDS, 96, COSTS);
        DecisionId earlier = change(story).id();
        story.rate("chat", 25);

        story.tell(story.report(earlier, Outcome.FAILED, List.of(), Optional.of(new Tenant.Job(new JobId("a")))));

        assertThat(story.job("a").paused()).isPresent();
    }

    @Test
    void anActuatorThatCanNoLongerSuspendGetsNoResume() {
        Scenario story = resumed(paused().actuator("one", Abilities.USUAL));

        assertThat(allocation(story).gpus()).allMatch(gpu -> gpu.value().startsWith("infer"));
        assertThat(allocation(story).mechanism()).isEqualTo(Mechanism.RESTART);
    }

    @Test
    void aStartElsewhereIsInForceOnceTheMemoryIsFree() {
        Scenario story = paused().actuator("one", SUSPENDS, "infer")
                .actuator("two", SUSPENDS, "train")
                .node("train", Pool.TRAINING, 2);
        for (int i = 0; i < 20 && story.job("a").gpus() == 0; i++) {
            story.after(ofSeconds(15)).rate("chat", 25);
        }

        assertThat(story.job("a").allocation().gpus())
                .allMatch(gpu -> gpu.value().startsWith("train"));
        assertThat(story.job("a").change().awaited()).containsExactly("one", "two");
    }

    private static HostRoom room(Scenario story) {
        return new HostRoom(builder(story));
    }

    private static StepBuilder builder(Scenario story) {
        return new StepBuilder(story.state(), story.log().get(story.log().size() - 1), StepListener.NONE);
    }

    /** 96 GiB less one replica and two GPUs that the job is still leaving, with 32 GiB each. */
    @Test
    void whileAJobPausesItsSharesCount() {
        Scenario story = lent(SUSPENDS, 96, COSTS).rate("chat", 25);

        assertThat(room(story).left(INFER, Optional.empty(), List.of()).memoryBytes())
                .isZero();
    }

    @Test
    void aPauseLeavesWhatOthersNeedForTheirNextGpus() {
        Scenario story = lent(SUSPENDS, 96, COSTS);
        HostNeed need = new HostNeed(Optional.empty(), Optional.of(20 * GIB));
        story.tell(story.jobRecord("b", 2, false).needing(need));
        StepBuilder builder = builder(story);
        Instant by = story.now().plusSeconds(45);
        assertThat(new Pausing(builder).at(story.job("a"), by)).isPresent();

        builder.put(story.job("b").aiming(story.job("a").allocation().gpus()));

        assertThat(new Pausing(builder).at(story.job("a"), by)).isEmpty();
    }

    /** One GPU is to spare, which is too few for the paused job. Of 96 GiB, two replicas have 64 and the pause 32. */
    @Test
    void aPauseEndsIfAPlanPrefersAJobThatNeedsTheMemory() {
        Scenario story = paused();
        story.tell(story.jobRecord("b", 1, false).needing(new HostNeed(Optional.empty(), Optional.of(30 * GIB))));
        for (int i = 0; i < 80 && story.job("b").gpus() == 0; i++) {
            story.after(ofSeconds(15)).settled().rate("chat", 12).settled();
        }

        assertThat(story.job("b").gpus()).isEqualTo(1);
        assertThat(story.job("a").paused()).isEmpty();
        assertThat(story.decisions())
                .filteredOn(decision -> decision.reason().is(ReasonCode.HOST))
                .extracting(decision -> decision.reason().text())
                .anyMatch(text -> text.startsWith("the pause of a ends: b needs 30.0 GiB of host memory"));
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** 96 GiB less a pause of 32 GiB and three replicas with the usual share of a GPU, 32 GiB. */
    @Test
    void othersGetWhatAPauseLeaves() {
        Scenario story = paused();
        HostRoom room = room(story);

        assertThat(room.left(INFER, Optional.empty(), List.of()).memoryBytes()).isEqualTo(-32 * GIB);
        assertThat(room.left(INFER, story.job("a")).memoryBytes()).isZero();
    }
}

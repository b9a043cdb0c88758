package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.HostNeed;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Queues get their nominal quota within a notice of asking, from queues that have more than theirs. */
class QuotaAsksTest {
    private static final Duration PLAN = ofSeconds(61);

    /** Queues of one cohort, each with a nominal quota. */
    private static Scenario teams(int gpus, double... nominal) {
        Scenario story = Scenario.of("deepboot").node("train", Pool.TRAINING, gpus);
        for (int i = 0; i < nominal.length; i++) {
            story.queue("team-" + (char) ('a' + i), Optional.of("all"), KindQuota.of(Optional.empty(), nominal[i]));
        }
        return story;
    }

    private static Scenario planned(Scenario story) {
        return story.settled().after(PLAN).settled();
    }

    private static Scenario job(Scenario story, String name, int gpus, String queue, int priority) {
        return story.tell(story.jobRecord(name, gpus, false)
                .with(new TrainingJob.Precedence(priority, new QueueId(queue), Optional.empty())));
    }

    /** Elastic jobs may double their GPUs at each plan. */
    private static Scenario grown(Scenario story, String... jobs) {
        for (int i = 0; i < 12; i++) {
            planned(story);
            for (String job : jobs) {
                if (story.job(job).gpus() > 0) {
                    story.progress(job, JobPhase.RUNNING).settled();
                }
            }
        }
        return story;
    }

    private static List<Decision> takenBack(Scenario story) {
        return story.decisions().stream()
                .filter(decision -> decision.reason().is(ReasonCode.QUOTA)
                        && decision.reason().numbers().containsKey("asked")
                        && decision.action().jobChange().isPresent())
                .toList();
    }

    @Test
    void aJobWithinTheNominalQuotaStartsAtOnce() {
        Scenario story = teams(4, 2).rigidJob("a", 2, "team-a");

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(story.last().get(0).reason().text())
                .isEqualTo("a starts with 2 GPUs of the nominal quota of its queue");
        assertThat(story.state().promises()).isEmpty();
    }

    @Test
    void freeGpusOfTrainingComeBeforeLoans() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 2)
                .node("train", Pool.TRAINING, 2)
                .queue("team-a", 2);

        story.rigidJob("a", 2, "team-a");

        assertThat(story.lastKinds()).containsExactly("resize");
        assertThat(story.job("a").gpus()).isEqualTo(2);
    }

    @Test
    void nothingIsTakenForAJobThatItsNodeCannotHost() {
        Scenario story = planned(teams(4, 2, 2).host("train", 16, 64).rigidJob("a", 4, "team-a"));
        assertThat(story.job("a").gpus()).isEqualTo(4);

        story.tell(story.jobRecord("b", 2, false)
                .in(new QueueId("team-b"))
                .needing(new HostNeed(Optional.empty(), Optional.of(40L << 30))));
        planned(story);

        assertThat(takenBack(story)).isEmpty();
        assertThat(story.job("a").gpus()).isEqualTo(4);
    }

    @Test
    void aQueueTakesBackItsNominalQuotaFromOneThatBorrows() {
        Scenario story = planned(teams(4, 2, 2).rigidJob("a", 4, "team-a"));
        assertThat(story.job("a").gpus()).isEqualTo(4);

        story.rigidJob("b", 2, "team-b");

        assertThat(story.lastKinds()).containsExactly("resize");
        assertThat(story.last().get(0).reason().text())
                .isEqualTo(
                        "a gives 4 GPUs back and waits: b of queue team-b asks for 2 GPUs, its queue uses 0 of at most 2 GPUs (nominal quota 2), and queue team-a uses 4 of at most 4 GPUs (nominal quota 2)");
        assertThat(Duration.between(story.now(), story.last().get(0).deadline()))
                .isEqualTo(SchedulerSettings.DEFAULTS.notice());
        assertThat(story.state().promises()).hasSize(2);
        story.settled();
        assertThat(story.job("b").gpus()).isEqualTo(2);
        assertThat(story.job("a").gpus()).isZero();
        assertThat(story.state().promises()).isEmpty();
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void anElasticJobShrinksAndKeepsTheNominalQuotaOfItsQueue() {
        Scenario story = grown(teams(4, 2, 2).job("a", 4, "team-a"), "a");
        assertThat(story.job("a").gpus()).isEqualTo(4);

        story.rigidJob("b", 2, "team-b").settled();

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(story.job("b").gpus()).isEqualTo(2);
    }

    @Test
    void aPolicyThatDoesNotKnowQueuesLeavesEachItsShare() {
        Scenario story = grown(teams(4, 2, 2).job("a", 4, "team-a").settled().job("b", 4, "team-b"), "a", "b");

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(story.job("b").gpus()).isEqualTo(2);
    }

    @Test
    void aGangThatDoesNotFitIsNotAskedFor() {
        Scenario story = teams(4, 2, 3).rigidJob("a1", 2, "team-a");
        planned(story.settled().rigidJob("a2", 2, "team-a"));
        assertThat(story.job("a1").gpus() + story.job("a2").gpus()).isEqualTo(4);

        story.rigidJob("b", 3, "team-b");

        assertThat(story.last()).isEmpty();
        assertThat(story.state().promises()).isEmpty();
    }

    @Test
    void aQueueTakesBackItsQuotaWhereNoActuatorRunsAJobOnSeveralNodes() {
        Scenario story = planned(teams(4, 2, 2)
                .actuator("one", Abilities.USUAL.withSpansNodes(false))
                .rigidJob("a", 4, "team-a"));
        assertThat(story.job("a").gpus()).isEqualTo(4);

        story.rigidJob("b", 2, "team-b");

        assertThat(story.state().promises()).hasSize(2);
        story.settled();
        assertThat(story.job("b").gpus()).isEqualTo(2);
    }

    @Test
    void twoJobsThatAskAtOnceForOneNodeThatIsLentWholeBothStart() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 4)
                .actuator("one", Abilities.USUAL.withGranularity(Granularity.NODE))
                .rigidJob("a", 2, "team-a")
                .rigidJob("b", 2, "team-a");

        story.queue("team-a", 4).settled();

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(story.job("b").gpus()).isEqualTo(2);
    }

    /** A node of four GPUs that is lent whole, with a queue whose jobs take GPUs from those of a lower priority. */
    private static Scenario lentWhole(int nominal) {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 4)
                .actuator("one", Abilities.USUAL.withGranularity(Granularity.NODE))
                .queue("team-a", nominal);
        ClusterQueue queue =
                story.state().queues().require(new QueueId("team-a")).spec();
        return story.tell(queue.preempting(Preemption.LOWER_PRIORITY, Preemption.ANY));
    }

    /** The bundle goes back to inference with its last job, unless all other units of it can become free. */
    @Test
    void nothingIsTakenOfANodeThatWouldGoBackAndCannotBeLentAgain() {
        Scenario story = job(lentWhole(4), "low", 2, "team-a", 0).settled();
        List<GpuId> free = story.state().gpus().stream()
                .filter(GpuState::isFree)
                .map(GpuState::gpuId)
                .toList();
        story.after(ofSeconds(1))
                .tell(story.report(
                        story.decisions().get(0).id(),
                        Outcome.HOLDS,
                        free,
                        Optional.of(new Tenant.Job(new JobId("stray")))));
        assertThat(story.count("quarantined")).isEqualTo(2);

        job(story, "high", 1, "team-a", 5);

        assertThat(takenBack(story)).isEmpty();
        assertThat(story.job("low").gpus()).isEqualTo(2);
    }

    @Test
    void jobsFollowOthersOnANodeThatIsLentWholeAlsoIfAllThatRanThereLeave() {
        Scenario story = job(lentWhole(3), "first", 1, "team-a", 0).settled();
        job(story, "second", 2, "team-a", 0).settled();
        List<Decision> leaving = job(story, "wide", 2, "team-a", 5).last();
        assertThat(story.state().promises()).hasSize(2);

        job(story, "small", 1, "team-a", 6);
        assertThat(story.state().promises()).hasSize(3);
        story.settled();
        for (Decision decision : leaving) {
            story.answers(decision).forEach(story::tell);
        }

        assertThat(story.job("small").gpus()).isEqualTo(1);
        assertThat(story.job("wide").gpus()).isEqualTo(2);
    }

    @Test
    void aJobBeyondTheNominalQuotaIsNoAsk() {
        Scenario story = planned(teams(4, 2, 2).rigidJob("a", 4, "team-a"));

        story.rigidJob("b", 3, "team-b");

        assertThat(story.last()).isEmpty();
    }

    @Test
    void theLowestPriorityGivesFirst() {
        Scenario story = teams(4, 2, 2);
        job(story, "early", 2, "team-a", 0).settled();
        planned(job(story, "late", 2, "team-a", 5));

        story.rigidJob("b", 2, "team-b").settled();

        assertThat(story.job("early").gpus()).isZero();
        assertThat(story.job("late").gpus()).isEqualTo(2);
        assertThat(story.job("b").gpus()).isEqualTo(2);
    }

    @Test
    void ofEqualPrioritiesTheLatestStartGivesFirst() {
        Scenario story = teams(4, 2, 2).rigidJob("z", 2, "team-a").settled();
        planned(story.rigidJob("a", 2, "team-a"));

        story.rigidJob("b", 2, "team-b").settled();

        assertThat(story.job("z").gpus()).isEqualTo(2);
        assertThat(story.job("a").gpus()).isZero();
    }

    @Test
    void noGangIsStoppedWhereAnElasticJobCanShrink() {
        Scenario story = grown(teams(6, 3, 3).job("elastic", 4, "team-a"), "elastic");
        assertThat(story.job("elastic").gpus()).isEqualTo(4);
        planned(story.rigidJob("gang", 2, "team-a"));
        assertThat(story.job("gang").gpus()).isEqualTo(2);

        story.rigidJob("b", 2, "team-b").settled();

        assertThat(story.job("gang").gpus()).isEqualTo(2);
        assertThat(story.job("elastic").gpus()).isEqualTo(2);
        assertThat(story.job("b").gpus()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({
        "NEVER, 9, 0",
        "LOWER_PRIORITY, 0, 0",
        "LOWER_PRIORITY, 1, 2",
        "ANY, 0, 2",
    })
    void whatAQueueTakesBackInItsCohortIsDeclared(Preemption inCohort, int priority, int gpus) {
        Scenario story = planned(teams(4, 2, 2).rigidJob("a", 4, "team-a"));
        ClusterQueue queue =
                story.state().queues().require(new QueueId("team-b")).spec();

        job(story.tell(queue.preempting(Preemption.NEVER, inCohort)), "b", 2, "team-b", priority)
                .settled();

        assertThat(story.job("b").gpus()).isEqualTo(gpus);
    }

    @ParameterizedTest
    @CsvSource({"NEVER, 9, 0", "LOWER_PRIORITY, 0, 0", "LOWER_PRIORITY, 1, 2"})
    void whatJobsTakeInTheirOwnQueueIsDeclared(Preemption within, int priority, int gpus) {
        Scenario story = teams(2, 2).rigidJob("low", 2, "team-a").settled();
        ClusterQueue queue =
                story.state().queues().require(new QueueId("team-a")).spec();
        story.tell(queue.preempting(within, Preemption.ANY).withClasses(Map.of("class", priority)));

        story.tell(story.jobRecord("high", 2, false)
                        .with(new TrainingJob.Precedence(0, new QueueId("team-a"), Optional.of("class"))))
                .settled();

        assertThat(story.job("high").gpus()).isEqualTo(gpus);
        assertThat(story.job("low").gpus()).isEqualTo(2 - gpus);
        if (gpus > 0) {
            planned(planned(story));
            assertThat(story.job("high").gpus()).as("after plans").isEqualTo(gpus);
        }
    }

    @Test
    void promisedUnitsAreKeptFromOtherJobs() {
        Scenario story = planned(teams(4, 0, 4).rigidJob("a", 4, "team-a"));

        story.rigidJob("b", 4, "team-b").rigidJob("c", 2);
        story.after(PLAN);

        assertThat(story.state().promises()).hasSize(4);
        assertThat(story.job("c").target()).isEmpty();
    }

    @Test
    void aPromiseEndsWithTheJob() {
        Scenario story = planned(teams(4, 0, 4).rigidJob("a", 4, "team-a")).rigidJob("b", 4, "team-b");
        assertThat(story.state().promises()).extracting(Promise::tenant).hasSize(4);

        story.progress("b", JobPhase.CANCELLED);

        assertThat(story.state().promises()).isEmpty();
    }

    @Test
    void aPromiseEndsIfTheGpusNeverCome() {
        Scenario story = planned(teams(4, 0, 4).rigidJob("a", 4, "team-a")).rigidJob("b", 4, "team-b");

        story.after(ofMinutes(4));

        assertThat(story.state().promises()).isEmpty();
        assertThat(story.job("b").target()).isEmpty();
    }

    @Test
    void promisedGpusAreNotLentAfterAnOperatorOrdersAllLoansBack() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 2)
                .queue("team-a", Optional.of("all"), KindQuota.of(Optional.empty(), 0))
                .queue("team-b", Optional.of("all"), KindQuota.of(Optional.empty(), 2));
        planned(story.rigidJob("a", 2, "team-a")).rigidJob("b", 2, "team-b");
        assertThat(story.state().promises()).hasSize(2);
        List<Decision> reclaims = story.last();

        story.control(ControlCommand.Kind.RECLAIM_ALL);

        assertThat(story.state().promises()).isEmpty();
        reclaims.forEach(reclaim -> story.answers(reclaim).forEach(story::tell));
        assertThat(story.count("free")).isEqualTo(2);
        assertThat(story.decisions())
                .noneMatch(decision -> decision.action() instanceof Action.Lend lend
                        && lend.job().value().equals("b"));
    }

    @Test
    void aServiceWithinItsNominalQuotaComesBeforeAPromiseToAJob() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 3)
                .queue("team-a", Optional.of("all"), KindQuota.of(Optional.empty(), 0))
                .queue("team-b", Optional.of("all"), KindQuota.of(Optional.empty(), 2))
                .queue("team-c", Optional.of("all"), KindQuota.of(Optional.empty(), 1))
                .service("chat", 0, "team-c")
                .rate("chat", 0);
        story.rigidJob("a", 2, "team-a").settled();
        for (int i = 0; i < 6; i++) {
            story.rate("chat", 0).after(ofSeconds(15)).settled();
        }
        assertThat(story.job("a").gpus()).isEqualTo(2);
        story.rigidJob("b", 2, "team-b");
        assertThat(story.state().promises()).hasSize(2);

        story.rate("chat", 5);

        assertThat(story.lastKinds()).contains("serve");
        assertThat(story.state().promises()).isEmpty();
    }

    @Test
    void gpusOfSleepingReplicasCountInTheLimitOnLoans() {
        ChangeLimits oneLoan = new ChangeLimits(1.0, 1, 1000, Duration.ZERO, QuietWindows.NONE);
        Scenario story = new Scenario(
                        new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withChangeLimits(oneLoan)))
                .node("infer", Pool.INFERENCE, 2)
                .service("chat", 0)
                .rate("chat", 15)
                .settled();
        for (int i = 0; i < 20 && story.count("sleeping") < 2; i++) {
            story.rate("chat", 0).settled().after(ofSeconds(15)).settled();
        }
        assertThat(story.count("sleeping")).isEqualTo(2);
        story.rigidJob("a", 1, "team-a").rigidJob("b", 1, "team-a");

        story.queue("team-a", 2);

        assertThat(story.state().promises()).hasSize(1);
    }

    @Test
    void aNewFloorTakesTheQuotaThatJobsOfItsQueueUse() {
        Scenario story = grown(
                Scenario.of("deepboot")
                        .node("train", Pool.TRAINING, 4)
                        .queue("team-a", 4)
                        .job("a", 4, "team-a"),
                "a");
        assertThat(story.job("a").gpus()).isEqualTo(4);

        story.node("infer", Pool.INFERENCE, 2).service("chat", 1, "team-a");

        assertThat(story.last().get(story.last().size() - 1).reason().text())
                .isEqualTo(
                        "a gives 1 GPU back and goes on with 3 GPUs: chat of queue team-a lacks 1 replica to its floor of 1, and its queue uses 4 of at most 4 GPUs (nominal quota 4)");
        assertThat(story.state().promises()).hasSize(1);
        story.settled();
        assertThat(story.count("serving")).isEqualTo(1);
        assertThat(story.job("a").gpus()).isEqualTo(3);
        assertThat(story.state().promises()).isEmpty();
        grown(story, "a");
        assertThat(story.job("a").gpus()).isEqualTo(3);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void forAFloorTheJobOfTheLowestPriorityStops() {
        Scenario story = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 4)
                .node("infer", Pool.INFERENCE, 2)
                .queue("team-a", 4);
        job(story, "low", 2, "team-a", 0).settled();
        job(story, "high", 2, "team-a", 1).settled();
        assertThat(story.count("training")).isEqualTo(4);

        story.service("chat", 1, "team-a").settled();

        assertThat(story.job("low").gpus()).isZero();
        assertThat(story.job("high").gpus()).isEqualTo(2);
        assertThat(story.count("serving")).isEqualTo(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void loansForQuotasCountForAMinuteAlsoAfterARestart() {
        ChangeLimits oneLoan = new ChangeLimits(1.0, 1, 1000, Duration.ZERO, QuietWindows.NONE);
        Scheduler scheduler =
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withChangeLimits(oneLoan));
        Scenario story = new Scenario(scheduler)
                .node("infer", Pool.INFERENCE, 4)
                .queue("team-a", 4)
                .rigidJob("a", 1, "team-a")
                .settled();
        assertThat(story.job("a").gpus()).isEqualTo(1);

        story.after(ofSeconds(20)).takenOverBy(scheduler).rigidJob("b", 1, "team-a");
        assertThat(story.job("b").gpus()).isZero();

        planned(story);
        assertThat(story.job("b").gpus()).isEqualTo(1);
        assertThat(story.state().loanStarts()).hasSize(1);
    }

    @Test
    void aServiceGetsTheNominalQuotaOfItsQueueFromAnotherAboveItsFloor() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 4)
                .queue("team-a", Optional.of("all"), KindQuota.of(Optional.empty(), 1))
                .queue("team-b", Optional.of("all"), KindQuota.of(Optional.empty(), 3))
                .service("chat", 3, "team-a")
                .settled();
        story.service("code", 0, "team-b").rate("chat", 33).settled();
        assertThat(story.count("serving")).isEqualTo(4);

        story.rate("code", 25);

        assertThat(story.lastKinds()).contains("idle");
        assertThat(story.state().promises()).as("the floor of chat stays").hasSize(1);
        story.settled();
        assertThat(story.state().gpus().stream()
                        .filter(unit -> unit.owner()
                                .holdingService()
                                .filter(name -> name.value().equals("code"))
                                .isPresent()))
                .hasSize(1);
    }

    @Test
    void aServiceThatWaitsForAPromiseMayAskForMore() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 4)
                .queue("team-a", Optional.of("all"), KindQuota.of(Optional.empty(), 1))
                .queue("team-b", Optional.of("all"), KindQuota.of(Optional.empty(), 3))
                .service("chat", 1, "team-a")
                .settled();
        story.service("code", 0, "team-b").rate("chat", 33).settled();
        story.rate("code", 5).rate("chat", 20);
        assertThat(story.state().promises()).hasSize(1);

        story.after(ofSeconds(5)).rate("code", 12);

        assertThat(story.state().promises()).hasSize(2);
    }

    @Test
    void noReplicaStopsOnANodeThatTwoActuatorsClaim() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 4)
                .queue("team-a", Optional.of("all"), KindQuota.of(Optional.empty(), 1))
                .queue("team-b", Optional.of("all"), KindQuota.of(Optional.empty(), 3))
                .service("chat", 1, "team-a")
                .settled();
        story.service("code", 0, "team-b").rate("chat", 33).settled();
        story.actuator("one", Abilities.USUAL, "infer").actuator("two", Abilities.USUAL, "infer");

        story.rate("code", 5);

        assertThat(story.lastKinds()).doesNotContain("idle");
        assertThat(story.state().promises()).isEmpty();
    }

    @Test
    void nothingIsTakenBackTwice() {
        Scenario story =
                planned(teams(8, 4, 4).rigidJob("a1", 4, "team-a").settled().rigidJob("a2", 4, "team-a"));
        story.rigidJob("b", 4, "team-b").settled();
        int taken = takenBack(story).size();

        story.rigidJob("b2", 4, "team-b").settled();
        planned(planned(story));

        assertThat(takenBack(story)).hasSize(taken);
        assertThat(story.job("b").gpus()).isEqualTo(4);
        assertThat(story.verdict().violations()).isEmpty();
    }
}

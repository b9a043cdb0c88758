package io.lendstream.core.scheduler;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.QueuePosition;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** When training is planned, what the policy sees, and what limits loans. */
class TrainingTest extends TrainingFixture {
    // When it is planned.

    @Test
    void theFirstPlanIsAtTheNextMultipleOfThePeriodAndNotBefore() {
        Scenario fresh = new Scenario(scheduler).job("a", 4).after(ofSeconds(59));
        assertThat(fresh.state().nextPlanAt()).contains(Scenario.START.plusSeconds(60));
        assertThat(policy.shown()).isEmpty();

        fresh.after(ofSeconds(1));

        assertThat(policy.shown()).hasSize(1);
        assertThat(fresh.state().nextPlanAt()).contains(Scenario.START.plusSeconds(120));
    }

    @Test
    void withoutJobsThePolicyIsNotAskedAndTheNextPlanIsAnHourLater() {
        Scenario idle = new Scenario(scheduler).after(ofMinutes(1));

        assertThat(policy.shown()).isEmpty();
        assertThat(idle.state().nextPlanAt())
                .contains(Scenario.START.plusSeconds(60).plus(ofHours(1)));
    }

    @Test
    void aPlanThatHoldsOnIsNotMadeAgainBeforeItsEndButAfterAnHourAtTheLatest() {
        planned(Map.of(), Optional.of(minutes(10)));
        assertThat(step.state().nextPlanAt()).contains(minutes(10));

        planned(Map.of(), Optional.of(minutes(10).plusMillis(1)));
        assertThat(step.state().nextPlanAt()).contains(minutes(11));

        planned(Map.of(), Optional.of(minutes(90)));
        assertThat(step.state().nextPlanAt()).contains(minutes(60));

        planned(Map.of());
        assertThat(step.state().nextPlanAt()).contains(minutes(1));
    }

    @Test
    void aPlanThatWasNotAdoptedAsAWholeIsMadeAgainAtTheNextTime() {
        settings("max-loans-per-minute", "0");

        planned(Map.of("a", gpus("infer-g1")), Optional.of(minutes(10)));

        assertThat(vetoes).containsExactly(Map.entry("a", perMinute(1, 0, 0, 1)));
        assertThat(step.state().nextPlanAt()).contains(minutes(1));
    }

    @Test
    void aPlanBesideAJobThatIsBeingChangedIsMadeAgainAtTheNextTime() {
        state.owner("train-g0", new Owner.Training(new JobId("a")))
                .job("a", job -> holding(job, state.now(), "train-g0"));

        planned(Map.of(), Optional.of(minutes(10)));

        assertThat(view().fixed()).containsExactly(new JobId("a"));
        assertThat(step.state().nextPlanAt()).contains(minutes(1));
    }

    @Test
    void afterAChangeThePlanIsMadeSoonThoughTheLastOneHeldOn() {
        state.planAt(minutes(30));

        Step idle = state.tick(scheduler);
        assertThat(idle.state().nextPlanAt()).contains(minutes(30));

        Step more = state.step(scheduler, story.jobRecord("d", 2, true));
        assertThat(more.state().nextPlanAt()).contains(minutes(1));
    }

    @Test
    void noPlanIsMadeWhileTheDomainIsFrozenAndTheReasonRestsOnTheRates() {
        state.mode(new Mode(true, false, false));

        planned(Map.of("a", gpus("train-g0")));

        Decision hold = only();
        assertThat(hold.action()).isEqualTo(new Action.Hold(Optional.empty(), Optional.empty()));
        assertThat(hold.reason().code()).isEqualTo("held");
        assertThat(hold.reason().text()).isEqualTo("no training plan is made: the domain is frozen");
        assertThat(hold.deadline()).isEqualTo(state.now());
        assertThat(hold.reason().inputs())
                .containsExactly(
                        state.state().services().require(CHAT).demand().event(),
                        state.state().eventSequence() + 1);
        assertThat(policy.shown()).isEmpty();
        assertThat(step.state().nextPlanAt()).contains(minutes(1));
    }

    @Test
    void noPlanIsMadeInAQuietWindow() {
        settings("quiet-windows", "00:00-01:00");

        planned(Map.of("a", gpus("train-g0")));

        assertThat(only().reason().text())
                .isEqualTo("no training plan is made: the quiet window 00:00-01:00 UTC is open");
        assertThat(policy.shown()).isEmpty();
    }

    @Test
    void whileDemandIsStaleThePlanLendsNothingButMovesTrainingsOwnGpus() {
        state.later(ofSeconds(46));

        planned(Map.of("a", gpus("train-g0"), "b", gpus("infer-g1")));

        assertThat(kinds()).containsExactly("hold ", "resize a");
        Decision hold = step.decisions().get(0);
        assertThat(hold.reason().code()).isEqualTo("stale");
        assertThat(hold.reason().text())
                .isEqualTo(
                        "no further GPU is lent: the request rates of chat are 46 s old (limit: 45 s, 3 windows of 15 s)");
        assertThat(vetoes).containsExactly(Map.entry("b", hold.reason().text()));
        assertThat(owner("infer-g1")).isInstanceOf(Owner.Free.class);
    }

    @Test
    void staleDemandIsNoNewsWhereNothingIsLentAnyway() {
        settings("lending", "false");
        state.later(ofSeconds(46));

        planned(Map.of("a", gpus("train-g0")));

        assertThat(kinds()).containsExactly("resize a");
    }

    @Test
    void theListenerSeesThePlan() {
        planned(Map.of("a", gpus("train-g0")));

        assertThat(seen.targets()).containsExactly(Map.entry(new JobId("a"), gpus("train-g0")));
    }

    // What the policy sees.

    @Test
    void thePolicySeesTrainingsGpusAndWhatInferenceDoesNotUse() {
        trainsOn("a", "train-g0", "infer-g1");
        state.owner("infer-g2", new Owner.Sleeping(CHAT));
        state.owner("infer-g3", new Owner.Protected(CHAT, minutes(1), 0));

        planned(Map.of());

        assertThat(names(view())).containsExactly("infer-g1", "infer-g2", "train-g0", "train-g1");
        assertThat(view().nodes()).isEqualTo(2);
        assertThat(view().gpusPerNode()).isEqualTo(4);
        assertThat(view().now()).isEqualTo(state.now());
        assertThat(view().fixed()).isEmpty();
        assertThat(view().jobs()).extracting(each -> each.job().value()).containsExactly("a", "b", "c");
        assertThat(view().holding()).extracting(each -> each.job().value()).containsExactly("a");
    }

    @Test
    void whereNothingMayBeLentThePolicySeesTrainingsGpusOnly() {
        settings("lending", "false");
        trainsOn("a", "infer-g1");

        planned(Map.of());

        assertThat(names(view())).containsExactly("train-g0", "train-g1");
        assertThat(counted()).isEqualTo("2 GPUs for 3 jobs");
    }

    @Test
    void allThatMayBeGivenIsCountedWhereAllOfInferenceMayBeLent() {
        planned(Map.of());

        assertThat(names(view())).hasSize(5);
        assertThat(counted()).isEqualTo("5 GPUs for 3 jobs");
    }

    @Test
    void ofInferencesIdleGpusOnlyAShareMayBeLentAndThoseWithSleepingReplicasStay() {
        settings("max-share-lent", "0.5");
        state.owner("infer-g1", new Owner.Sleeping(CHAT));

        planned(Map.of());

        assertThat(names(view())).containsExactly("infer-g2", "infer-g3", "train-g0", "train-g1");
        assertThat(counted()).isEqualTo("4 GPUs for 3 jobs");
    }

    @Test
    void theShareIsRoundedDown() {
        settings("max-share-lent", "0.49");

        planned(Map.of());

        assertThat(names(view())).containsExactly("infer-g1", "train-g0", "train-g1");
        assertThat(counted()).isEqualTo("3 GPUs for 3 jobs");
    }

    @Test
    void loansCountTowardsTheShareAndAreStillTrainings() {
        settings("max-share-lent", "0.5");
        trainsOn("a", "infer-g1");

        planned(Map.of());

        assertThat(names(view())).containsExactly("infer-g1", "infer-g2", "train-g0", "train-g1");
        assertThat(counted()).isEqualTo("4 GPUs for 3 jobs");
    }

    @Test
    void whereMoreIsLentThanTheShareNothingElseMayBe() {
        settings("max-share-lent", "0.25");
        trainsOn("a", "infer-g1", "infer-g2");

        planned(Map.of());

        assertThat(names(view())).containsExactly("infer-g1", "infer-g2", "train-g0", "train-g1");
        assertThat(counted()).isEqualTo("4 GPUs for 3 jobs");
    }

    @Test
    void whatCannotBeReachedIsNotSeenNorCountedForTheShare() {
        settings("max-share-lent", "0.5");
        story.node("infer-far", Pool.INFERENCE, 2);
        unavailable("infer-far", Pool.INFERENCE, 2);
        state = new EditedState(story);

        planned(Map.of());

        assertThat(names(view())).containsExactly("infer-g1", "infer-g2", "train-g0", "train-g1");
        assertThat(counted()).isEqualTo("4 GPUs for 3 jobs");
        assertThat(view().nodes()).isEqualTo(3);
    }

    @Test
    void jobsThatWereChangedWithinTheHoldAreFixed() {
        settings("min-hold", "PT5M");
        trainsOn("a", "train-g0");
        trainsOn("b", "train-g1");
        state.job(
                "a",
                job -> holding(job, state.now().minusSeconds(299), "train-g0").settled(Optional.empty()));
        state.job(
                "b",
                job -> holding(job, state.now().minusSeconds(300), "train-g1").settled(Optional.empty()));

        planned(Map.of());

        assertThat(changedAt("a")).isEqualTo(state.now().minusSeconds(299));
        assertThat(view().fixed()).containsExactly(new JobId("a"));
    }

    @Test
    void aJobThatHasEndedIsNotFixedWhileItsLastChangeIsInTransfer() {
        state = new EditedState(story.tell(finished("a")));
        state.owner("train-g0", new Owner.Training(new JobId("a")));
        state.job("a", job -> holding(job, state.now(), "train-g0"));
        planned(Map.of());

        assertThat(view().fixed()).isEmpty();
    }

    @Test
    void elasticJobsAreThoughtToBeChangedInPlaceWhereThatIsSwitchedOn() {
        story.rigidJob("rigid", 2);
        state = new EditedState(story);
        planned(Map.of());
        assertThat(cost("a")).isEqualTo(ofSeconds(3));
        assertThat(cost("rigid")).isEqualTo(ofSeconds(24));

        settings("afe", "false");
        planned(Map.of());
        assertThat(cost("a")).isEqualTo(ofSeconds(24));
    }

    // The part that is adopted.

    @Test
    void aPlanThatLeavesAJobAsItIsChangesNothingOfIt() {
        trainsOn("a", "train-g0");

        planned(Map.of("a", gpus("train-g0")));

        assertThat(step.decisions()).isEmpty();
        assertThat(step.changed().jobs()).isEmpty();
    }

    @Test
    void wherePolicyKeepsJobsInQueuesTheirStandingIsKept() {
        QueuePosition second = new QueuePosition(1, state.now(), ofSeconds(7), Optional.empty());
        policy.propose(new Plan(Map.of(), Map.of(), Map.of(new JobId("b"), second), List.of(), Optional.empty()));

        step = state.planAt(state.now()).tick(scheduler, listener);

        assertThat(job("b").standing()).contains(second);
        assertThat(job("a").standing()).isEmpty();
    }

    @Test
    void noMoreIsLentThanMayBeInAPlanAndASmallerLoanStillFits() {
        settings("max-loans-per-minute", "3");

        planned(Map.of("a", gpus("infer-g1", "infer-g2"), "b", gpus("infer-g2", "infer-g3"), "c", gpus("infer-g3")));

        assertThat(kinds()).containsExactly("lend a", "lend c");
        assertThat(vetoes).containsExactly(Map.entry("b", perMinute(4, 3, 3, 1)));
    }

    @Test
    void loansPerMinuteAddUpOverALongPeriodAndAMinuteIsTheLeast() {
        settings("max-loans-per-minute", "1");
        policy.planEvery(ofMinutes(2));
        planned(Map.of("a", gpus("infer-g1", "infer-g2")));
        assertThat(kinds()).containsExactly("lend a");

        policy.planEvery(ofSeconds(30));
        planned(Map.of("a", gpus("infer-g1"), "b", gpus("infer-g2")));
        assertThat(kinds()).containsExactly("lend a");
        assertThat(vetoes).containsEntry("b", perMinute(2, 1, 1, 1));
    }

    @Test
    void whatIsOnItsWayLeavesLessRoomForLoans() {
        settings("max-transfers", "2");
        state.owner(
                "infer-g3",
                new Owner.Binding(new Tenant.Job(new JobId("c")), BEFORE, minutes(1), Optional.of(minutes(10)), 1));
        state.job("c", job -> holding(job, state.now(), "infer-g3"));

        planned(Map.of("a", gpus("infer-g1", "infer-g2")));

        assertThat(vetoes)
                .containsExactly(Map.entry(
                        "a",
                        "2 new loans would begin, but only 1 may begin now: scheduler.max-transfers is 2, and 1 GPU is in transfer;"
                                + " wait until transfers end, or raise it"));
    }

    @Test
    void loansThatAJobHasAlreadyAreNotCountedAgain() {
        settings("max-loans-per-minute", "1");
        trainsOn("a", "infer-g1", "infer-g2");

        planned(Map.of("a", gpus("infer-g1", "infer-g2", "infer-g3")));

        assertThat(kinds()).containsExactly("lend a");
        assertThat(only().action().gpus()).isEqualTo(gpus("infer-g3"));
    }

    @Test
    void aJobWhoseProgressIsStaleIsLentNothingMore() {
        trainsOn("a", "train-g0");
        story.progress("a", JobPhase.RUNNING).after(ofSeconds(301)).rate("chat", 1);
        policy.shown().clear();
        state = new EditedState(story);
        trainsOn("a", "train-g0");

        planned(Map.of("a", gpus("infer-g1", "train-g0"), "b", gpus("infer-g2")));

        assertThat(vetoes)
                .containsExactly(
                        Map.entry(
                                "a",
                                "the last progress report of a is 301 s old (limit: 300 s); it gets more loans after its next report"));
        assertThat(kinds()).containsExactly("lend b");
        assertThat(job("a").target()).isEqualTo(gpus("train-g0"));
    }

    @Test
    void aJobThatIsVetoedNoLongerAimsAtItsOldTarget() {
        settings("max-loans-per-minute", "0");
        trainsOn("a", "train-g0");
        aimsAt("a", "train-g0", "train-g1");

        planned(Map.of("a", gpus("infer-g1", "train-g0")));

        assertThat(step.decisions()).isEmpty();
        assertThat(job("a").target()).isEqualTo(gpus("train-g0"));
        assertThat(owner("train-g1")).isInstanceOf(Owner.Free.class);
    }

    @Test
    void aJobThatThePlanLeavesOutNoLongerAimsAtItsOldTarget() {
        trainsOn("a", "train-g0");
        aimsAt("a", "train-g0", "train-g1");

        planned(Map.of());

        assertThat(step.decisions()).isEmpty();
        assertThat(job("a").target()).isEqualTo(gpus("train-g0"));
    }

    @Test
    void aJobOnAnInstanceStaysThereWhileThePolicyHasNothingForIt() {
        story.migNode("cut", Pool.INFERENCE, "1g.10gb@0").smallJob("small", 1, 8);
        state = new EditedState(story);
        onInstance("small", "cut-g0/0:1");

        planned(Map.of("small", List.of()));

        assertThat(step.decisions()).isEmpty();
        assertThat(job("small").target()).isEqualTo(gpus("cut-g0/0:1"));
        assertThat(view().holding()).isEmpty();
    }
}

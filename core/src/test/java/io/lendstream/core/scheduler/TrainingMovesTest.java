package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.Owner;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How jobs move towards a plan, and the reasons of their changes. */
class TrainingMovesTest extends TrainingFixture {
    // How jobs move.

    @Test
    void aChangeNamesItsReasonAndTheJobsGpusAndRestsOnTheJobsLatestEvent() {
        trainsOn("a", "train-g0");
        state.job(
                "a",
                job -> holding(job, state.now().minusSeconds(100), "train-g0").settled(Optional.empty()));

        planned(Map.of("a", gpus("train-g0", "train-g1")));

        Decision resize = only();
        assertThat(((Action.Resize) resize.action()).gpus()).isEqualTo(gpus("train-g1"));
        assertThat(((Action.Resize) resize.action()).allocation().gpus()).isEqualTo(gpus("train-g0", "train-g1"));
        assertThat(resize.deadline()).isEqualTo(state.now().plusSeconds(60));
        assertThat(resize.reason().code()).isEqualTo("plan");
        assertThat(resize.reason().text()).isEqualTo("the policy wants it for a");
        assertThat(resize.reason().numbers())
                .containsOnly(
                        Map.entry("gpusBefore", 1.0),
                        Map.entry("gpusAfter", 2.0),
                        Map.entry("changes", 0.0),
                        Map.entry("attainedGpuSeconds", 100.0),
                        Map.entry("wanted", 1.0));
        assertThat(resize.reason().inputs())
                .containsExactly(job("a").lastEvent(), state.state().eventSequence() + 1);
    }

    @Test
    void whatAPlanLeftUndoneIsDoneOnceTheGpusAreFree() {
        trainsOn("a", "train-g0");
        aimsAt("a", "train-g0", "train-g1");

        ticked();

        assertThat(kinds()).containsExactly("resize a");
        assertThat(only().reason().text()).isEqualTo("a: next step of the planned move to 2 GPUs");
        assertThat(step.state().nextPlanAt()).contains(minutes(30));
    }

    @Test
    void theReasonSaysThatGpusJustBecameFreeWhereThisStepFreedThem() {
        trainsOn("a", "train-g0");
        Owner leaving = new Owner.Releasing(
                new Tenant.Job(new JobId("b")), BEFORE, state.now().plusSeconds(45), minutes(2));
        state.owner("train-g1", leaving);
        aimsAt("a", "train-g0", "train-g1");
        StepBuilder builder = state.draft();
        builder.own(new GpuId("train-g1"), new Owner.Free());

        new Training(builder, policy, scheduler.settings()).carryOut(Map.of());

        step = builder.finished();
        assertThat(only().reason().text())
                .isEqualTo("a: next step of the planned move to 2 GPUs (GPUs just became free)");
    }

    @Test
    void noJobMovesWhileTheDomainIsFrozen() {
        aimsAt("a", "train-g0");
        state.mode(new Mode(true, false, false));

        ticked();

        assertThat(step.decisions()).isEmpty();
        assertThat(job("a").target()).isEqualTo(gpus("train-g0"));
    }

    @Test
    void aTargetThatCannotBeReachedAnyMoreIsGivenUpAndPlannedAgainSoon() {
        for (Owner taken : List.of(
                new Owner.Serving(CHAT),
                new Owner.Protected(CHAT, minutes(1), 0),
                new Owner.Binding(new Tenant.Service(CHAT), BEFORE, minutes(1), Optional.empty(), 1),
                new Owner.Quarantined("for the test"))) {
            state = new EditedState(story);
            trainsOn("a", "train-g0");
            aimsAt("a", "infer-g1", "train-g0");
            state.owner("infer-g1", taken);

            ticked();

            assertThat(job("a").target()).as("%s", taken).isEqualTo(gpus("train-g0"));
            assertThat(kinds()).as("%s", taken).doesNotContain("lend a");
            assertThat(step.state().nextPlanAt()).as("%s", taken).contains(minutes(1));
        }
    }

    @Test
    void aTargetThatIsGoneOrOnANodeThatIsAwayIsGivenUp() {
        aimsAt("a", "gone");
        ticked();
        assertThat(job("a").target()).isEmpty();
        assertThat(step.state().nextPlanAt()).contains(minutes(1));

        unavailable("train", Pool.TRAINING, 2);
        state = new EditedState(story);
        aimsAt("a", "train-g0");
        ticked();
        assertThat(job("a").target()).isEmpty();
        assertThat(step.decisions()).isEmpty();
    }

    @Test
    void aJobThatLosesGpusOnANodeThatIsNotReadyHasThatReason() {
        unavailable("train", Pool.TRAINING, 2);
        state = new EditedState(story);
        trainsOn("a", "infer-g1", "train-g0");

        planned(Map.of("a", gpus("infer-g1")));

        assertThat(kinds()).containsExactly("resize a");
        assertThat(only().reason().text()).isEqualTo("the policy wants it for a; node train is not ready");
    }

    @Test
    void aJobWaitsForGpusThatOthersAreAboutToLeave() {
        trainsOn("b", "train-g1");
        Tenant other = new Tenant.Job(new JobId("c"));
        for (Owner owner : List.of(
                new Owner.Releasing(other, BEFORE, minutes(1), minutes(2)),
                new Owner.Training(new JobId("b")),
                new Owner.Binding(other, BEFORE, minutes(1), Optional.empty(), 1))) {
            state.owner("train-g1", owner);
            aimsAt("a", "train-g0", "train-g1");

            ticked();

            assertThat(step.decisions()).as("%s", owner).isEmpty();
            assertThat(job("a").target()).as("%s", owner).isEqualTo(gpus("train-g0", "train-g1"));
            assertThat(step.state().nextPlanAt()).as("%s", owner).contains(minutes(30));
        }
    }

    @Test
    void aJobGivesItsLoansBackBeforeItTakesTrainingGpus() {
        trainsOn("a", "infer-g1", "infer-g2");

        planned(Map.of("a", gpus("infer-g1", "train-g0")));

        assertThat(kinds()).containsExactly("reclaim a");
        Action.Reclaim reclaim = (Action.Reclaim) only().action();
        assertThat(reclaim.gpus()).isEqualTo(gpus("infer-g2"));
        assertThat(reclaim.allocation().gpus()).isEqualTo(gpus("infer-g1"));
        assertThat(only().reason().text()).isEqualTo("the policy wants it for a; first it gives up 1 GPU");
        assertThat(owner("train-g0")).isInstanceOf(Owner.Free.class);
        assertThat(job("a").target()).isEqualTo(gpus("infer-g1", "train-g0"));
    }

    @Test
    void aJobThatOnlyGivesLoansBackIsDoneAtOnce() {
        trainsOn("a", "infer-g1", "infer-g2");

        planned(Map.of("a", gpus("infer-g1")));

        assertThat(kinds()).containsExactly("reclaim a");
        assertThat(job("a").target()).isEqualTo(gpus("infer-g1"));
    }

    @Test
    void theReasonsSayThatAJobThatShrinksGetsOtherGpus() {
        trainsOn("a", "train-g0", "train-g1");
        state.owner("infer-g1", new Owner.Sleeping(CHAT));

        planned(Map.of("a", gpus("infer-g1")));

        assertThat(step.decisions().stream().map(decision -> decision.reason().text()))
                .containsExactly(
                        "chat idles 1 replica: its GPU is free for a, which moves to other GPUs and shrinks from 2 to 1"
                                + " GPU",
                        "the policy wants it for a; it gets 1 other GPU; first it gives up 2 GPUs");
    }

    @Test
    void aRigidJobStopsWhileItMovesAndAnElasticOneGoesOnWithTheRest() {
        story.rigidJob("rigid", 2);
        state = new EditedState(story);
        trainsOn("rigid", "infer-g1", "infer-g2");
        planned(Map.of("rigid", gpus("infer-g1", "train-g0")));
        assertThat(((Action.Reclaim) only().action()).allocation().gpus()).isEmpty();
        assertThat(job("rigid").target()).isEqualTo(gpus("infer-g1", "train-g0"));

        state = new EditedState(story);
        trainsOn("a", "infer-g1");
        planned(Map.of("a", gpus("train-g0")));
        assertThat(((Action.Reclaim) only().action()).allocation().gpus()).isEmpty();
        assertThat(job("a").target()).isEqualTo(gpus("train-g0"));
    }

    @Test
    void aRigidJobThatKeepsAllItAskedForGoesOn() {
        story.rigidJob("rigid", 2);
        state = new EditedState(story);
        trainsOn("rigid", "infer-g1", "infer-g2", "infer-g3");

        planned(Map.of("rigid", gpus("infer-g1", "infer-g2", "train-g0")));

        assertThat(((Action.Reclaim) only().action()).allocation().gpus()).isEqualTo(gpus("infer-g1", "infer-g2"));
    }

    @Test
    void sleepingReplicasWherePlansWantAJobAreStoppedFirst() {
        trainsOn("a", "train-g0");
        state.owner("infer-g1", new Owner.Sleeping(CHAT));
        state.owner("infer-g2", new Owner.Sleeping(CHAT));

        planned(Map.of("a", gpus("infer-g1", "infer-g2", "train-g0")));

        assertThat(kinds()).containsExactly("idle chat");
        assertThat(only().action().gpus()).isEqualTo(gpus("infer-g1", "infer-g2"));
        assertThat(only().reason().code()).isEqualTo("plan");
        assertThat(only().reason().text())
                .isEqualTo("chat idles 2 replicas: their GPUs are free for a, which grows from 1 to 3 GPUs");
        assertThat(only().reason().numbers())
                .containsOnly(Map.entry("idled", 2.0), Map.entry("gpusBefore", 1.0), Map.entry("gpusAfter", 3.0));
        assertThat(only().reason().inputs())
                .containsExactly(
                        state.state().services().require(CHAT).demand().event(),
                        state.state().eventSequence() + 1);
        assertThat(owner("infer-g1")).isInstanceOf(Owner.Releasing.class);
        assertThat(job("a").allocation().gpus()).isEqualTo(gpus("train-g0"));
        assertThat(job("a").target()).hasSize(3);
    }

    @Test
    void aJobOnAnInstanceStaysThereUntilTheGpusForItAreFree() {
        story.migNode("cut", Pool.INFERENCE, "1g.10gb@0").smallJob("small", 2, 8);
        state = new EditedState(story);
        onInstance("small", "cut-g0/0:1");
        state.owner("infer-g1", new Owner.Sleeping(CHAT));

        planned(Map.of("small", gpus("infer-g1")));

        assertThat(kinds()).containsExactly("idle chat");
        assertThat(job("small").allocation().gpus()).isEqualTo(gpus("cut-g0/0:1"));
        assertThat(job("small").target()).isEqualTo(gpus("infer-g1"));
    }

    @Test
    void whatAJobThatIsOverHoldsReturnsAndTheReasonSaysSo() {
        story.tell(finished("a"));
        state = new EditedState(story);
        trainsOn("a", "train-g0", "train-g1");
        trainsOn("b", "infer-g1");

        ticked();

        assertThat(kinds()).containsExactly("resize a");
        assertThat(only().reason().code()).isEqualTo("over");
        assertThat(only().reason().text()).isEqualTo("a finished and releases 2 GPUs");
        assertThat(only().deadline()).isEqualTo(state.now().plusSeconds(45));
        assertThat(job("a").gpus()).isZero();
        assertThat(owner("train-g0")).isInstanceOf(Owner.Releasing.class);
    }

    @Test
    void aPlanDoesNotTouchWhatAJobThatIsOverHolds() {
        story.tell(finished("a"));
        state = new EditedState(story);
        trainsOn("a", "train-g0");

        planned(Map.of());

        assertThat(kinds()).containsExactly("resize a");
        assertThat(only().reason().code()).isEqualTo("over");
    }
}

package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.scheduler.UnitReview.Cause;
import io.lendstream.core.state.Owner;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** GPUs that are not lent because no job can use them now. */
class LendingReviewJobsTest extends LendingReviewFixture {
    @Test
    void aJobThatWasChangedAShortTimeAgoGetsNothingMore() {
        with("min-hold", "PT5M");
        cluster();
        story.job("a", 4);
        nextPlan();
        story.settled().progress("a", JobPhase.RUNNING).settled();
        nextPlan();

        UnitReview review = review("infer-g1");

        assertThat(review.cause()).isEqualTo(Cause.NOT_PLANNED);
        assertThat(review.reason())
                .isEqualTo(
                        "policy deepboot gives it to no job: a was changed a short time ago, and no plan changes it for"
                                + " another 240 s (scheduler.min-hold is 300 s)");
        assertIsNotLent("infer-g1");
        for (int i = 0; i < 4; i++) {
            story.progress("a", JobPhase.RUNNING);
            nextPlan();
        }

        assertThat(story.decisions())
                .anyMatch(decision -> decision.action() instanceof Action.Lend lend
                        && lend.gpus().stream().anyMatch(gpu -> gpu.value().startsWith("infer")));
    }

    @Test
    void aJobThatIsBeingChangedIsNamedWithItsDecision() {
        cluster();
        story.job("a", 4);
        nextPlan();
        Decision resize = story.last().get(0);

        assertThat(review("infer-g3").reason())
                .isEqualTo("policy deepboot gives it to no job: a is being changed by decision " + resize.id());
    }

    @Test
    void aJobThatIsTooLargeAndOneThatHasAllAreNamed() {
        cluster();
        story.rigidJob("big", 8).rigidJob("small", 1);
        nextPlan();
        story.settled().progress("small", JobPhase.RUNNING).settled();

        assertReview(
                "infer-g3",
                Cause.NOT_PLANNED,
                "policy deepboot gives it to no job: big needs 8 GPUs at once, and training may use 4; small gets"
                        + " the 1 GPU that it can use");
        assertIsNotLent("infer-g3");

        story.rigidJob("third", 2);

        assertThat(List.of("infer-g1", "infer-g2", "infer-g3"))
                .filteredOn(gpu -> review(gpu).cause() == Cause.NEXT_PLAN)
                .hasSize(2);
    }

    @Test
    void aPolicyThatWeighsSizesSaysWhatOneMoreGpuWouldCome() {
        cluster();
        story.job("a", 4);
        nextPlan();
        story.settled().progress("a", JobPhase.RUNNING).settled();
        long size = story.job("a").gpus();
        assertThat(size).isLessThan(4);

        UnitReview review = review("infer-g3");

        assertThat(review.cause()).isIn(Cause.NOT_PLANNED, Cause.NEXT_PLAN);
    }

    @Test
    void theRuleThatAJobMayAtMostDoubleIsNamedWhereItLeavesAGpuIdle() {
        cluster();
        story.job("a", 4);

        assertReview(
                "infer-g1",
                Cause.NOT_PLANNED,
                "policy deepboot gives it to no job: a gets 1 of at most 4 GPUs, not 2, because a may use at most 1 GPU now:"
                        + " it has not run yet, and a job may at most double the GPUs it has run on");

        nextPlan();
        story.settled().progress("a", JobPhase.RUNNING).settled();

        assertReview(
                "infer-g3",
                Cause.NOT_PLANNED,
                "policy deepboot gives it to no job: a gets 2 of at most 4 GPUs, not 3, because a may use at most 2 GPUs now:"
                        + " a job may at most double the GPUs it has run on (1)");
        assertIsNotLent("infer-g3");
    }

    @Test
    void ofManyJobsOnlySomeAreNamed() {
        cluster();
        for (int i = 0; i < 5; i++) {
            story.rigidJob("big-" + i, 8);
        }

        assertThat(review("infer-g3").reason())
                .startsWith("policy deepboot gives it to no job: big-0 needs 8 GPUs")
                .endsWith("; and 2 more jobs");
    }

    @Test
    void aJobThatWaitsForOtherGpusSaysForWhich() {
        ScriptedPolicy policy = new ScriptedPolicy();
        scheduler = new Scheduler(policy, SchedulerSettings.DEFAULTS);
        story = new Scenario(scheduler);
        cluster();
        story.rigidJob("a", 2).job("other", 2);
        EditedState state = new EditedState(story).owner("train-g0", new Owner.Training(new JobId("other")));
        policy.propose(
                new Plan(Map.of(new JobId("a"), List.of(new GpuId("infer-g1"), new GpuId("train-g0"))), Map.of()));

        UnitReview review = LendingReview.of(scheduler, state.state(), story.now())
                .of(new GpuId("infer-g1"))
                .get(0);

        assertThat(review.cause()).isEqualTo(Cause.PLANNED);
        assertThat(review.reason())
                .isEqualTo("the plan gives it to a, which waits for 1 other GPU of the plan: train-g0 (training)");
    }

    @Test
    void instancesSayWhatSmallJobsAreThere() {
        story.migNode("cut", Pool.INFERENCE, "3g.40gb@0 1g.10gb@4", "")
                .service("chat", 0)
                .rate("chat", 0)
                .rigidJob("big", 4);

        assertThat(LendingReview.of(scheduler, story.state(), story.now()).of(new GpuId("cut-g0")))
                .hasSize(2)
                .allSatisfy(review -> assertThat(review.reason())
                        .isEqualTo("no waiting job runs on one MIG instance and declares the memory that it needs"));
        assertReview("cut-g1", Cause.CUT, "it is in MIG mode but has no MIG instance");

        story.smallJob("large", 1, 45);

        assertReview("cut-g0/4:1", Cause.NOT_PLANNED, "it has 9.5 GiB, and every waiting job needs at least 45.0 GiB");
        assertIsNotLent("cut-g0/0:4");

        story.smallJob("small", 1, 20);

        assertIsLent("cut-g0/0:4");
    }
}

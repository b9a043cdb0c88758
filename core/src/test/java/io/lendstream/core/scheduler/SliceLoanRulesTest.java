package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Owner;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which job borrows which instance, and how many do. */
class SliceLoanRulesTest {
    private static final DecisionId BEFORE = new DecisionId(Scenario.DOMAIN, 1, 1);
    private static final Tenant OTHER = new Tenant.Job(new JobId("other"));

    private final Scenario story = Scenario.of("deepboot");
    private SchedulerSettings settings = SchedulerSettings.DEFAULTS;
    private Set<GpuId> awaited = Set.of();
    private EditedState state = new EditedState(story);
    private Step step;

    private void cut(Pool pool, String... cuts) {
        story.migNode(pool == Pool.INFERENCE ? "cut" : "train", pool, cuts);
        state = new EditedState(story);
    }

    private void waiting(String... jobs) {
        Arrays.stream(jobs).forEach(job -> story.smallJob(job, 1, 8));
        state = new EditedState(story);
    }

    /** Lends so many instances at most; who borrows what. */
    private List<String> lent(long most) {
        StepBuilder builder = state.draft();
        builder.await(awaited);
        new SliceLoans(builder, settings).lend(() -> new LoanLimit(most, "the test allows no more"));
        step = builder.finished();
        return step.decisions().stream()
                .map(decision -> decision.action().target() + " "
                        + decision.action().gpus().get(0))
                .toList();
    }

    @Test
    void eachJobThatWaitsBorrowsAnotherInstance() {
        cut(Pool.INFERENCE, "1g.10gb@0 1g.10gb@1 1g.10gb@2");
        waiting("a", "b");

        assertThat(lent(10)).containsExactly("a cut-g0/0:1", "b cut-g0/1:1");
    }

    @Test
    void noMoreIsLentThanMayBe() {
        cut(Pool.INFERENCE, "1g.10gb@0 1g.10gb@1 1g.10gb@2");
        waiting("a", "b", "c");

        assertThat(lent(2)).hasSize(2);
        assertThat(lent(0)).isEmpty();
    }

    @Test
    void theSmallestInstanceThatFitsIsTakenWhereverItIs() {
        cut(Pool.INFERENCE, "3g.40gb@0 2g.20gb@4", "1g.10gb@6");
        waiting("a", "b", "c");

        assertThat(lent(10)).containsExactly("a cut-g1/6:1", "b cut-g0/4:2", "c cut-g0/0:4");
    }

    @Test
    void theLoanSaysWhatWasAskedForAndWhatIsGiven() {
        cut(Pool.INFERENCE, "1g.10gb@0");
        waiting("a");

        lent(1);

        Decision lend = step.decisions().get(0);
        assertThat(((Action.Lend) lend.action()).allocation().gpus()).containsExactly(new GpuId("cut-g0/0:1"));
        assertThat(lend.reason().code()).isEqualTo("slice");
        assertThat(lend.reason().numbers())
                .containsOnly(
                        Map.entry("sliceMemoryBytes", (double) (8L << 30)),
                        Map.entry("memoryBytes", 9.5 * (1L << 30)),
                        Map.entry("share", 9.5 / 80));
        assertThat(lend.reason().inputs())
                .containsExactly(
                        state.state().jobs().require(new JobId("a")).lastEvent(),
                        state.state().eventSequence() + 1);
    }

    @Test
    void anInstanceWithJustTheMemoryThatAJobNeedsFits() {
        cut(Pool.INFERENCE, "1g.10gb@0 2g.20gb@2");
        story.tell(story.jobRecord("exact", 1, true).onSlicesOf((long) (9.5 * (1L << 30))))
                .tell(story.jobRecord("more", 1, true).onSlicesOf((long) (9.5 * (1L << 30)) + 1));
        state = new EditedState(story);

        assertThat(lent(10)).containsExactlyInAnyOrder("exact cut-g0/0:1", "more cut-g0/2:2");
    }

    @Test
    void onlyFreeInstancesOfInferenceAreLent() {
        cut(Pool.INFERENCE, "1g.10gb@0 1g.10gb@1");
        story.node("whole", Pool.INFERENCE, 1);
        cut(Pool.TRAINING, "1g.10gb@0");
        waiting("a", "b");
        state.owner("cut-g0/0:1", new Owner.Lent(new JobId("other"), BEFORE, state.now()));

        assertThat(lent(10)).containsExactly("a cut-g0/1:1");
    }

    @Test
    void anInstanceWhoseMemoryAServiceIsAboutToTakeIsNotLent() {
        cut(Pool.INFERENCE, "1g.10gb@0 1g.10gb@1");
        waiting("a", "b");
        awaited = Set.of(new GpuId("cut-g0/0:1"));

        assertThat(lent(10)).containsExactly("a cut-g0/1:1");
    }

    @Test
    void aJobThatHasOrIsAboutToHaveSomethingElseIsLentNone() {
        cut(Pool.INFERENCE, "1g.10gb@0 1g.10gb@1 1g.10gb@2 1g.10gb@3");
        waiting("aims", "changes", "has", "waits");
        story.job("large", 1);
        state = new EditedState(story);
        Allocation one = new Allocation(List.of(new GpuId("x")), 64, 1, 1, Mechanism.AFE);
        state.job("aims", job -> job.aiming(List.of(new GpuId("x"))))
                .job(
                        "has",
                        job -> job.allocated(one, Optional.empty(), BEFORE, state.now(), state.now())
                                .aiming(List.of())
                                .settled(Optional.empty()))
                .job(
                        "changes",
                        job -> job.allocated(
                                Allocation.suspended(Mechanism.AFE),
                                Optional.empty(),
                                BEFORE,
                                state.now(),
                                state.now()));

        assertThat(lent(10)).containsExactly("waits cut-g0/0:1");
    }

    @Test
    void aJobThatNeedsMoreThanOneGpuIsLentNone() {
        cut(Pool.INFERENCE, "1g.10gb@0");
        story.tell(story.jobRecord("rigid", 2, false).onSlicesOf(1L << 30));
        state = new EditedState(story);

        assertThat(lent(10)).isEmpty();
    }

    /** Five instances of 9.5 GiB of GPUs of 80 GiB, of which a fifth may be lent. */
    private void aFifth() {
        settings = SchedulerSettings.of(Map.of("max-share-lent", "0.2"));
        cut(Pool.INFERENCE, "1g.10gb@0 1g.10gb@1 1g.10gb@2 1g.10gb@3 1g.10gb@4");
        waiting("a", "b");
    }

    @Test
    void aShareThatIsJustAnInstanceIsEnoughForIt() {
        aFifth();

        assertThat(lent(10)).containsExactly("a cut-g0/0:1");
    }

    @Test
    void whatIsLentOrAboutToBeCountsTowardsTheShareAndWhatReturnsDoesNot() {
        aFifth();
        state.owner("cut-g0/4:1", new Owner.Lent(new JobId("other"), BEFORE, state.now()));
        assertThat(lent(10)).isEmpty();

        state.owner("cut-g0/4:1", new Owner.Binding(OTHER, BEFORE, state.now(), Optional.empty(), 1));
        assertThat(lent(10)).isEmpty();

        state.owner("cut-g0/4:1", new Owner.Releasing(OTHER, BEFORE, state.now(), state.now()));
        assertThat(lent(10)).containsExactly("a cut-g0/0:1");
    }

    @Test
    void wholeGpusOfInferenceCountForTheShareAndTrainingsDoNot() {
        aFifth();
        story.node("train", Pool.TRAINING, 8);
        state = new EditedState(story);
        assertThat(lent(10)).hasSize(1);

        story.node("infer", Pool.INFERENCE, 1);
        state = new EditedState(story);
        assertThat(lent(10)).hasSize(2);

        state.owner("infer-g0", new Owner.Lent(new JobId("other"), BEFORE, state.now()));
        assertThat(lent(10)).isEmpty();
    }

    @Test
    void whereALargeInstanceIsTooMuchForTheShareAJobGoesWithout() {
        settings = SchedulerSettings.of(Map.of("max-share-lent", "0.3"));
        cut(Pool.INFERENCE, "3g.40gb@0 1g.10gb@4 1g.10gb@5");
        story.smallJob("large", 1, 30).smallJob("small", 1, 8);
        state = new EditedState(story);

        assertThat(lent(10)).containsExactly("small cut-g0/4:1");
    }
}

package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The decision that a change of a job's GPUs becomes, its deadlines, and what happens to GPUs that a job has lost. */
class JobChangesTest {
    private static final JobId JOB = new JobId("a");
    private static final Tenant TENANT = new Tenant.Job(JOB);
    private static final DecisionId BEFORE = new DecisionId(Scenario.DOMAIN, 1, 1);
    private static final Reason WHY = new Reason("plan", "for the test", Map.of(), List.of());

    private final Scenario story = Scenario.of("deepboot")
            .node("train", Pool.TRAINING, 2)
            .node("infer-a", Pool.INFERENCE, 2)
            .node("infer-b", Pool.INFERENCE, 2)
            .job("a", 4)
            .rigidJob("rigid", 2);

    private final EditedState state = new EditedState(story);
    private SchedulerSettings settings = SchedulerSettings.DEFAULTS;
    private Step step;

    private static List<GpuId> gpus(String... names) {
        return Arrays.stream(names).map(GpuId::new).toList();
    }

    private void trainsOn(String job, String... names) {
        for (String name : names) {
            state.owner(
                    name,
                    name.startsWith("train")
                            ? new Owner.Training(new JobId(job))
                            : new Owner.Lent(new JobId(job), BEFORE, seconds(600)));
        }
        state.job(
                job,
                known -> known.allocated(
                                new Allocation(gpus(names), 64, 1, 1.0, Mechanism.AFE),
                                Optional.empty(),
                                BEFORE,
                                seconds(60),
                                state.now())
                        .aiming(gpus(names))
                        .settled(Optional.empty()));
    }

    private Instant seconds(int count) {
        return state.now().plusSeconds(count);
    }

    /** Gives a job these GPUs, where lost ones have to be released within 45 s. */
    private Decision change(String job, String... names) {
        StepBuilder builder = state.draft();
        new JobChanges(builder, settings).change(builder.jobs().require(new JobId(job)), gpus(names), seconds(45), WHY);
        step = builder.finished();
        assertThat(step.decisions()).hasSize(1);
        return step.decisions().get(0);
    }

    private Owner owner(String gpu) {
        return step.state().gpus().require(new GpuId(gpu)).owner();
    }

    private JobState job(String name) {
        return step.state().jobs().require(new JobId(name));
    }

    @Test
    void aJobThatGainsAnInferenceGpuIsLentItThoughItLosesAnotherOne() {
        trainsOn("a", "infer-a-g0", "train-g0");

        Decision lend = change("a", "infer-b-g0", "train-g1");

        Action.Lend action = (Action.Lend) lend.action();
        assertThat(action.gpus()).isEqualTo(gpus("infer-b-g0"));
        assertThat(action.until()).isEqualTo(seconds(600));
        assertThat(action.allocation().gpus()).isEqualTo(gpus("infer-b-g0", "train-g1"));
        assertThat(lend.deadline()).isEqualTo(seconds(60));
        assertThat(lend.reason()).isEqualTo(WHY);
        assertThat(owner("infer-b-g0"))
                .isEqualTo(new Owner.Binding(TENANT, lend.id(), seconds(60), Optional.of(seconds(600)), 1));
        assertThat(owner("train-g1")).isEqualTo(new Owner.Binding(TENANT, lend.id(), seconds(60), Optional.empty(), 1));
        assertThat(owner("infer-a-g0")).isEqualTo(new Owner.Releasing(TENANT, lend.id(), seconds(45), seconds(90)));
        assertThat(owner("train-g0")).isEqualTo(new Owner.Releasing(TENANT, lend.id(), seconds(45), seconds(90)));
    }

    @Test
    void aJobThatLosesAnInferenceGpuIsReclaimedFromWithAllThatItLoses() {
        trainsOn("a", "infer-a-g0", "train-g0", "train-g1");

        Decision reclaim = change("a", "train-g1");

        Action.Reclaim action = (Action.Reclaim) reclaim.action();
        assertThat(action.gpus()).isEqualTo(gpus("infer-a-g0", "train-g0"));
        assertThat(action.by()).isEqualTo(seconds(45));
        assertThat(reclaim.deadline()).isEqualTo(seconds(45));
        assertThat(owner("train-g1")).isEqualTo(new Owner.Training(JOB));
    }

    @Test
    void aJobThatChangesTrainingsOwnGpusIsResizedAndTheDecisionNamesBothSides() {
        trainsOn("a", "infer-a-g0", "train-g0");

        Decision resize = change("a", "infer-a-g0", "train-g1");

        assertThat(((Action.Resize) resize.action()).gpus()).isEqualTo(gpus("train-g0", "train-g1"));
        assertThat(resize.deadline()).isEqualTo(seconds(60));
        assertThat(owner("infer-a-g0")).isInstanceOf(Owner.Lent.class);
    }

    @Test
    void aChangeIsWaitedForUntilTwiceTheTimeOfARestartAfterItsDeadline() {
        Decision start = change("a", "train-g0");
        assertThat(job("a").change().changeDeadline()).isEqualTo(seconds(60 + 2 * 24));
        assertThat(job("a").changing()).contains(start.id());
        assertThat(job("a").target()).isEqualTo(gpus("train-g0"));
        assertThat(job("a").usage().attainedUpTo()).isEqualTo(state.now());

        trainsOn("a", "train-g0", "train-g1");
        change("a", "train-g0");
        assertThat(job("a").change().changeDeadline()).isEqualTo(seconds(45 + 2 * 24));
    }

    @Test
    void aJobRunsTheBestBatchForItsGpusAndNodes() {
        change("a", "infer-a-g0", "infer-b-g0");

        var known = state.state().jobs().require(JOB);
        var onTwoNodes = known.goodput().ofProfile().best(2, 2).batch();
        Allocation allocation = job("a").allocation();
        assertThat(allocation.localBatch()).isEqualTo(onTwoNodes.local());
        assertThat(allocation.accumulation()).isEqualTo(onTwoNodes.accumulation());
        assertThat(allocation.learningRateScale()).isEqualTo(known.model().gain(onTwoNodes.total(2)));
        assertThat(allocation.learningRateScale()).isGreaterThan(1);
    }

    @Test
    void onlyElasticJobsAreChangedInPlaceAndOnlyWhereThatIsSwitchedOn() {
        change("a", "train-g0");
        assertThat(job("a").allocation().mechanism()).isEqualTo(Mechanism.AFE);
        change("rigid", "train-g0", "train-g1");
        assertThat(job("rigid").allocation().mechanism()).isEqualTo(Mechanism.RESTART);

        settings = SchedulerSettings.DEFAULTS.withAfe(false);
        change("a", "train-g0");
        assertThat(job("a").allocation().mechanism()).isEqualTo(Mechanism.RESTART);
    }

    @Test
    void aJobWithoutGpusIsSuspended() {
        trainsOn("a", "train-g0");

        change("a");

        assertThat(job("a").allocation()).isEqualTo(Allocation.suspended(Mechanism.AFE));
    }

    @Test
    void aJobOnAnInstanceIsCountedByItsShareOfAGpu() {
        story.migNode("cut", Pool.INFERENCE, "1g.10gb@0");
        EditedState withInstance = new EditedState(story);
        StepBuilder builder = withInstance.draft();

        new JobChanges(builder, settings).change(builder.jobs().require(JOB), gpus("cut-g0/0:1"), seconds(45), WHY);

        assertThat(builder.jobs().require(JOB).grant().sliceShare()).contains(9.5 / 80);
    }

    @Test
    void whatIsNoLongerTheJobsIsNotReleasedByIt() {
        trainsOn("a", "infer-a-g0", "infer-a-g1", "infer-b-g0");
        state.owner("infer-a-g0", new Owner.Quarantined("for the test"));
        Owner releasing = new Owner.Releasing(TENANT, BEFORE, seconds(1), seconds(2));
        state.owner("infer-a-g1", releasing);

        change("a");

        assertThat(owner("infer-a-g0")).isEqualTo(new Owner.Quarantined("for the test"));
        assertThat(owner("infer-a-g1")).isEqualTo(releasing);
        assertThat(owner("infer-b-g0")).isInstanceOf(Owner.Releasing.class);
    }

    /** Loses some of its GPUs to a fault in this very step. */
    private StepBuilder losing(String... names) {
        StepBuilder builder = state.draft();
        for (String name : names) {
            builder.own(new GpuId(name), new Owner.Quarantined("for the test"));
        }
        return builder;
    }

    @Test
    void aJobThatLostAGpuGoesOnWithTheRestAndTheReasonNamesTheLoss() {
        trainsOn("a", "infer-a-g0", "infer-b-g0", "train-g0");
        StepBuilder builder = losing("infer-b-g0", "train-g0");

        new JobChanges(builder, settings).dropLostGpus(true);

        step = builder.finished();
        assertThat(step.decisions()).hasSize(1);
        Decision decision = step.decisions().get(0);
        assertThat(decision.reason().code()).isEqualTo("lost");
        assertThat(decision.reason().text())
                .isEqualTo("a lost 2 GPUs (infer-b-g0, train-g0: for the test) and goes on with 1 GPU");
        assertThat(decision.reason().numbers()).containsOnly(Map.entry("lost", 2.0), Map.entry("gpusAfter", 1.0));
        assertThat(decision.reason().inputs()).containsExactly(state.state().eventSequence() + 1);
        assertThat(decision.deadline()).isEqualTo(seconds(45));
        assertThat(((Action.Reclaim) decision.action()).gpus()).isEqualTo(gpus("infer-b-g0", "train-g0"));
        assertThat(job("a").allocation().gpus()).isEqualTo(gpus("infer-a-g0"));
        assertThat(owner("infer-b-g0")).isEqualTo(new Owner.Quarantined("for the test"));
        assertThat(builder.changesPlans()).isTrue();
    }

    @Test
    void theReasonRestsOnTheEventThatTookTheGpu() {
        trainsOn("a", "infer-a-g0", "infer-b-g0");
        StepBuilder builder = state.draft();
        builder.put(builder.gpu(new GpuId("infer-b-g0")).with(new Owner.Free(), state.now(), 3));

        new JobChanges(builder, settings).dropLostGpus(true);

        assertThat(builder.finished().decisions().get(0).reason().inputs())
                .containsExactly(3L, state.state().eventSequence() + 1);
    }

    @Test
    void aRigidJobThatLostAGpuStops() {
        trainsOn("rigid", "train-g0", "train-g1");
        StepBuilder builder = losing("train-g1");

        new JobChanges(builder, settings).dropLostGpus(true);

        step = builder.finished();
        assertThat(step.decisions().get(0).reason().text())
                .isEqualTo("rigid lost 1 GPU (train-g1: for the test) and waits: it cannot run on the rest");
        assertThat(job("rigid").gpus()).isZero();
        assertThat(owner("train-g0")).isInstanceOf(Owner.Releasing.class);
    }

    @Test
    void whereNothingIsDecidedTheLossIsOnlyNoted() {
        trainsOn("a", "infer-a-g0", "train-g0");
        StepBuilder builder = losing("train-g0");

        new JobChanges(builder, settings).dropLostGpus(false);

        step = builder.finished();
        assertThat(step.decisions()).isEmpty();
        assertThat(job("a").allocation().gpus()).isEqualTo(gpus("infer-a-g0"));
        assertThat(job("a").target()).isEqualTo(gpus("infer-a-g0"));
        assertThat(builder.changesPlans()).isTrue();
    }

    @Test
    void aJobThatLostNothingIsLeftAlone() {
        trainsOn("a", "infer-a-g0");
        StepBuilder builder = state.draft();
        builder.put(builder.gpu(new GpuId("infer-a-g0")).withXid(Optional.of(13)));

        new JobChanges(builder, settings).dropLostGpus(true);

        step = builder.finished();
        assertThat(step.decisions()).isEmpty();
        assertThat(step.changed().jobs()).isEmpty();
        assertThat(builder.changesPlans()).isFalse();
    }

    @Test
    void anElasticJobGoesOnWithAsFewGpusAsItAllowsAndARigidOneNever() {
        JobState elastic = JobState.of(least(2, true), 1);
        assertThat(JobChanges.goesOnWith(elastic, 1)).isFalse();
        assertThat(JobChanges.goesOnWith(elastic, 2)).isTrue();
        assertThat(JobChanges.goesOnWith(JobState.of(least(2, false), 1), 4)).isFalse();
    }

    private TrainingJob least(int gpus, boolean elastic) {
        TrainingJob job = story.jobRecord("other", 4, elastic);
        return new TrainingJob(
                job.job(),
                job.domain(),
                job.submittedAt(),
                job.application(),
                new TrainingJob.Scaling(4, gpus, 4, elastic),
                TrainingJob.Precedence.USUAL,
                job.traits(),
                job.driver(),
                Optional.empty());
    }

    @Test
    void theLeaseOfALoanIsAsLongAsIsSet() {
        settings = SchedulerSettings.of(Map.of("lease", "PT20M", "bind-deadline", "PT30S"));

        Decision lend = change("a", "infer-a-g0");

        assertThat(((Action.Lend) lend.action()).until()).isEqualTo(state.now().plus(ofMinutes(20)));
        assertThat(lend.deadline()).isEqualTo(seconds(30));
    }
}

package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Owner;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A rigid job runs on all the GPUs that it asked for, or on none, though its {@code minGpus} is smaller. */
class GangsTest {
    private static final Tenant JOB = new Tenant.Job(new JobId("rigid"));

    private Scenario story = Scenario.of("deepboot");

    @AfterEach
    void theHistoryIsClean() {
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** Four training GPUs and a rigid job that is about to get them. */
    private Decision binding() {
        story.node("train", Pool.TRAINING, 4).rigidJob("rigid", 4).after(ofSeconds(61));
        Decision resize = story.last().get(0);
        assertThat(resize.action().gpus()).hasSize(4);
        return resize;
    }

    /** The same, on its GPUs. */
    private Scenario running() {
        binding();
        story.actuated().progress("rigid", JobPhase.RUNNING);
        assertThat(story.count("training")).isEqualTo(4);
        return story;
    }

    /** A rigid job on two GPUs of training's and two that were lent. */
    private Scenario lending() {
        story.node("train", Pool.TRAINING, 2)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled()
                .rigidJob("rigid", 4);
        for (int i = 0; i < 20 && story.job("rigid").gpus() == 0; i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15)).settled();
        }
        story.rate("chat", 1).settled().progress("rigid", JobPhase.RUNNING);
        assertThat(story.count("lent")).isEqualTo(2);
        return story;
    }

    private static Allocation allocation(Decision decision) {
        if (decision.action() instanceof Action.Resize resize) {
            return resize.allocation();
        }
        return ((Action.Reclaim) decision.action()).allocation();
    }

    /** Its most is for elastic jobs. */
    @Test
    void getsAllThatItAskedForAlsoBeyondItsMost() {
        TrainingJob job = story.jobRecord("rigid", 3, false);
        story.node("train", Pool.TRAINING, 4)
                .tell(new TrainingJob(
                        job.job(),
                        job.domain(),
                        job.submittedAt(),
                        job.application(),
                        new TrainingJob.Scaling(3, 1, 2, false),
                        job.precedence(),
                        job.traits(),
                        job.driver(),
                        Optional.empty()))
                .after(ofSeconds(61));

        assertThat(story.last().get(0).action().gpus()).hasSize(3);
    }

    @Test
    void givesAllBackWhereOneGpuWasNotBoundInTime() {
        Decision resize = binding();
        List<GpuId> bound = resize.action().gpus().subList(0, 3);
        story.tell(story.report(resize.id(), Outcome.BOUND, bound, Optional.of(JOB)));

        story.after(ofSeconds(70));

        Decision undone = story.last().get(0);
        assertThat(undone.reason().text()).contains("no actuator reported 1 GPU as bound");
        assertThat(allocation(undone).gpus()).isEmpty();
        assertThat(story.job("rigid").gpus()).isZero();
        story.actuated();
    }

    @Test
    void givesAllBackWhereOneGpuFails() {
        running().sample("train", Optional.of(79));

        assertThat(allocation(story.last().get(0)).gpus()).isEmpty();
        story.actuated();
    }

    @Test
    void givesAllBackWhereOneLeavesByItself() {
        running();
        GpuId first = story.job("rigid").allocation().gpus().get(0);
        story.after(ofSeconds(1));
        ActuationReport left =
                story.report(story.decisions().get(0).id(), Outcome.RELEASED, List.of(first), Optional.of(JOB));

        story.tell(left);

        assertThat(allocation(story.last().get(0)).gpus()).isEmpty();
        story.actuated();
    }

    @Test
    void givesAllBackWhereInferenceNeedsOneOfItsLoans() {
        lending().rate("chat", 25);

        Decision reclaim = story.last().stream()
                .filter(decision -> decision.action() instanceof Action.Reclaim)
                .findFirst()
                .orElseThrow();
        assertThat(allocation(reclaim).gpus()).isEmpty();
        assertThat(reclaim.action().gpus()).hasSize(4);
        story.settled();
    }

    @Test
    void anElasticJobGoesOnWithTheOthers() {
        story.node("train", Pool.TRAINING, 4)
                .job("elastic", 4)
                .after(ofMinutes(2))
                .settled();
        for (int i = 0; i < 10 && story.job("elastic").gpus() < 4; i++) {
            story.progress("elastic", JobPhase.RUNNING).after(ofMinutes(1)).settled();
        }
        int before = story.job("elastic").gpus();
        assertThat(before).isGreaterThan(1);
        GpuId first = story.job("elastic").allocation().gpus().get(0);
        story.after(ofSeconds(1));

        story.tell(story.report(
                story.decisions().get(0).id(),
                Outcome.RELEASED,
                List.of(first),
                Optional.of(new Tenant.Job(new JobId("elastic")))));

        assertThat(story.job("elastic").gpus()).isEqualTo(before - 1);
        story.actuated();
    }

    /** GPUs lost in advisory mode are replaced, or given up, when decisions are binding again. */
    @Test
    void isWholeOrStoppedSoonAfterALossThatNothingWasDecidedAbout() {
        running().control(ControlCommand.Kind.ADVISORY_ON);
        GpuId first = story.job("rigid").allocation().gpus().get(0);
        story.after(ofSeconds(1))
                .tell(story.report(story.decisions().get(0).id(), Outcome.RELEASED, List.of(first), Optional.of(JOB)));
        assertThat(story.job("rigid").gpus()).isEqualTo(3);
        assertThat(story.owner(first.value())).isInstanceOf(Owner.Free.class);

        story.control(ControlCommand.Kind.ADVISORY_OFF).settled();
        for (int i = 0; i < 10; i++) {
            story.after(ofMinutes(1)).settled();
        }

        assertThat(story.job("rigid").gpus()).isIn(0, 4);
    }
}

package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.HostShare;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.HostNeed;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.GpuState;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Jobs get CPU and host memory with their GPUs, and no more of a node than it has. */
class HostSharesTest {
    private static final long GIB = 1L << 30;

    /** 4 GPUs, 16 CPUs and 64 GiB. */
    private final Scenario story = Scenario.of("deepboot").node("train", Pool.TRAINING, 4);

    @AfterEach
    void theHistoryIsClean() {
        assertThat(story.verdict().violations()).isEmpty();
    }

    private static HostNeed memory(int gib) {
        return new HostNeed(Optional.empty(), Optional.of(gib * GIB));
    }

    /** Some plans further, with reports of all that is decided. */
    private void planned() {
        planned(story);
    }

    private static void planned(Scenario story) {
        for (int i = 0; i < 12; i++) {
            story.after(ofSeconds(30)).settled();
            for (String job : List.of("a", "b")) {
                boolean runs = story.state()
                        .jobs()
                        .get(new JobId(job))
                        .filter(known -> known.gpus() > 0)
                        .isPresent();
                if (runs) {
                    story.progress(job, JobPhase.RUNNING).settled();
                }
            }
        }
    }

    private List<Decision> holds() {
        return holds(story);
    }

    private static List<Decision> holds(Scenario story) {
        return story.decisions().stream()
                .filter(decision -> decision.reason().is(ReasonCode.HOST))
                .filter(decision -> decision.action() instanceof Action.Hold)
                .toList();
    }

    @Test
    void aJobHasTheShareOfItsGpusInTheirNode() {
        story.host("train", 16, 64).rigidJob("a", 2);
        planned();

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(story.job("a").allocation().host()).contains(new HostShare(4000, 16 * GIB));
    }

    @Test
    void nothingIsLimitedWhereNodesReportNothingAndJobsNeedNothing() {
        story.rigidJob("a", 2);
        planned();

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(story.job("a").allocation().host()).isEmpty();
    }

    @Test
    void aNeedIsPassedOnWhereNodesReportNothing() {
        story.tell(story.jobRecord("a", 2, false).needing(HostNeed.of(6000, 30 * GIB)));
        planned();

        assertThat(story.job("a").allocation().host()).contains(new HostShare(6000, 30 * GIB));
    }

    @Test
    void aJobThatNeedsMoreThanANodeHasWaitsAndAHoldSaysHowMuch() {
        story.host("train", 16, 64).tell(story.jobRecord("a", 2, false).needing(memory(40)));
        planned();

        assertThat(story.job("a").gpus()).isZero();
        assertThat(holds()).isNotEmpty();
        Decision hold = holds().get(0);
        assertThat(hold.action()).isEqualTo(new Action.Hold(Optional.of(new JobId("a")), Optional.empty()));
        assertThat(hold.reason().text())
                .isEqualTo("the plan leaves out what nodes cannot give: a needs 80.0 GiB of host memory for 2 GPUs of"
                        + " node train, which has 64.0 GiB of host memory left of 64.0 GiB of host memory");
        assertThat(hold.reason().numbers())
                .containsEntry("hostAsked", 80.0 * GIB)
                .containsEntry("hostLeft", 64.0 * GIB)
                .containsEntry("hostAll", 64.0 * GIB);

        story.host("train", 16, 128);
        planned();

        assertThat(story.job("a").gpus()).isEqualTo(2);
    }

    @Test
    void anElasticJobGetsTheGpusThatFit() {
        story.host("train", 16, 64).tell(story.jobRecord("a", 4, true).needing(memory(20)));
        planned();

        assertThat(story.job("a").gpus()).isEqualTo(3);
        assertThat(story.job("a").allocation().host()).contains(new HostShare(4000, 20 * GIB));
    }

    /** It gives a job what it asked for or nothing: its next plan would take a part back. */
    @Test
    void noPartIsGivenUnderAPolicyThatGivesAllThatAJobAskedFor() {
        Scenario other = Scenario.of("tiresias").node("train", Pool.TRAINING, 4).host("train", 16, 64);
        other.tell(other.jobRecord("a", 2, false).needing(memory(26)));
        planned(other);
        other.tell(other.jobRecord("b", 2, true).needing(memory(10)));
        planned(other);

        assertThat(other.job("a").gpus()).isEqualTo(2);
        assertThat(other.job("b").gpus()).isZero();
        assertThat(other.job("b").usage().largestRun()).isZero();
        assertThat(holds(other).get(0).reason().text())
                .contains("b needs 10.0 GiB of host memory for 1 GPU of node train");
    }

    /** Nodes have memory for the fewest GPUs that it runs on, but not for those that it asked for. */
    @Test
    void aJobThatCannotHaveAllThatItAskedForKeepsNoGpuFromOthersThere() {
        Scenario other = Scenario.of("tiresias").node("train", Pool.TRAINING, 4).host("train", 16, 64);
        other.tell(other.jobRecord("a", 4, true).needing(memory(20))).rigidJob("b", 2);
        planned(other);

        assertThat(other.job("a").gpus()).isZero();
        assertThat(other.job("b").gpus()).isEqualTo(2);
    }

    @Test
    void cpuIsLimitedLikeMemory() {
        story.host("train", 16, 64)
                .tell(story.jobRecord("a", 4, true).needing(new HostNeed(Optional.of(7000L), Optional.empty())));
        planned();

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(holds().get(0).reason().text()).contains("a needs 7.0 CPUs for 1 GPU of node train");
    }

    @Test
    void aJobWithoutANeedTakesWhatOthersLeave() {
        story.host("train", 16, 64).tell(story.jobRecord("a", 2, false).needing(memory(26)));
        planned();
        story.rigidJob("b", 1);
        planned();

        assertThat(story.job("b").allocation().host()).contains(new HostShare(4000, 12 * GIB));
    }

    @Test
    void aNewNeedOfARunningJobIsAResizeThatNamesNoGpu() {
        story.host("train", 16, 64).tell(story.jobRecord("a", 2, false).needing(memory(8)));
        planned();
        int before = story.decisions().size();

        story.tell(story.jobRecord("a", 2, false).needing(memory(24)));
        planned();

        List<Decision> after =
                story.decisions().subList(before, story.decisions().size());
        assertThat(after).hasSize(1);
        Action.Resize resize = (Action.Resize) after.get(0).action();
        assertThat(resize.gpus()).isEmpty();
        assertThat(resize.allocation().gpus()).hasSize(2);
        assertThat(resize.allocation().mechanism()).isEqualTo(Mechanism.AFE);
        assertThat(resize.allocation().host()).contains(new HostShare(4000, 24 * GIB));
        assertThat(story.job("a").changing()).isEmpty();
    }

    @Test
    void aNeedThatDoesNotFitLeavesARunningJobAsItIs() {
        story.host("train", 16, 64).tell(story.jobRecord("a", 2, false).needing(memory(8)));
        planned();

        story.tell(story.jobRecord("a", 2, false).needing(memory(33)));
        planned();

        assertThat(story.job("a").allocation().host()).contains(new HostShare(4000, 8 * GIB));
        assertThat(holds().get(0).reason().text())
                .isEqualTo("the share of a stays: a needs 66.0 GiB of host memory for 2 GPUs of node train, which has"
                        + " 64.0 GiB of host memory left of 64.0 GiB of host memory");
    }

    @Test
    void aJobThatNeedsMoreThanANodeHasKeepsNoGpuFromOthers() {
        story.host("train", 16, 64)
                .tell(story.jobRecord("a", 4, false).needing(memory(40)))
                .after(ofSeconds(1))
                .rigidJob("b", 2);
        planned();

        assertThat(story.job("a").gpus()).isZero();
        assertThat(story.job("b").gpus()).isEqualTo(2);
        assertThat(holds()).isNotEmpty();
    }

    /** The plan moves a job to a node that is too small, and gives its GPUs to another. */
    @Test
    void aJobThatCannotMoveKeepsItsGpusFromOthers() {
        story.host("train", 16, 64).tell(story.jobRecord("a", 4, false).needing(memory(12)));
        planned();
        List<GpuId> held = story.job("a").allocation().gpus();
        assertThat(held).hasSize(4);
        story.node("small", Pool.TRAINING, 4).host("small", 16, 8).rigidJob("b", 4);
        List<GpuId> small = story.state().gpus().stream()
                .map(GpuState::gpuId)
                .filter(gpu -> !held.contains(gpu))
                .toList();
        var builder = new StepBuilder(story.state(), story.log().get(story.log().size() - 1), StepListener.NONE);
        Plan plan = new Plan(Map.of(new JobId("a"), small, new JobId("b"), held), Map.of());

        HostPlan possible = HostPlan.of(
                builder,
                new ShapeGuard(builder, SchedulerSettings.DEFAULTS.model().topology()),
                plan,
                false);

        assertThat(possible.plan().targets())
                .containsEntry(new JobId("a"), held)
                .containsEntry(new JobId("b"), List.of());
    }

    @Test
    void aJobGivesNothingUpForGpusWhoseNodeHasNoRoom() {
        story.host("train", 16, 64).tell(story.jobRecord("a", 4, false).needing(memory(12)));
        planned();
        story.node("small", Pool.TRAINING, 4).host("small", 16, 8);
        List<GpuId> small = story.state().gpus().stream()
                .map(GpuState::gpuId)
                .filter(gpu -> !story.job("a").allocation().gpus().contains(gpu))
                .toList();
        var builder = new StepBuilder(story.state(), story.log().get(story.log().size() - 1), StepListener.NONE);
        builder.put(story.job("a").aiming(small));

        new Training(builder, Policies.parse("deepboot"), SchedulerSettings.DEFAULTS).carryOut(Map.of());

        assertThat(builder.jobs().require(new JobId("a")).gpus()).isEqualTo(4);
    }
}

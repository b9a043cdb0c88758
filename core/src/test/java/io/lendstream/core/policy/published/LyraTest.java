package io.lendstream.core.policy.published;

import static io.lendstream.core.policy.Views.COSTS;
import static io.lendstream.core.policy.Views.NOW;
import static io.lendstream.core.policy.Views.gpu;
import static io.lendstream.core.policy.Views.job;
import static io.lendstream.core.policy.Views.lendable;
import static io.lendstream.core.policy.Views.pace;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.DescribedJob;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Lyra on a training node {@code n0} and further nodes of inference. */
class LyraTest {
    private final Lyra lyra = new Lyra();

    private static JobView elastic(String name, double seconds, GpuId... held) {
        return job(name, 1, List.of(held), pace(seconds, 1), Optional.empty());
    }

    private static JobView rigid(String name, int gpus, double seconds, GpuId... held) {
        return new DescribedJob(
                job(name),
                NOW,
                new TrainingJob.Scaling(gpus, 1, 8, false),
                List.of(held),
                DescribedJob.Usage.NONE,
                Optional.empty(),
                pace(seconds, 1),
                Optional.empty(),
                COSTS);
    }

    @Test
    void servesBaseDemandShortestJobFirstAndLetsSmallerJobsPass() {
        Plan plan = lyra.plan(lendable(
                List.of(rigid("long", 2, 100), rigid("wide", 4, 400), elastic("short", 10), rigid("last", 1, 200)), 4));

        assertThat(plan.targets().get(job("short"))).hasSize(1);
        assertThat(plan.targets().get(job("wide"))).isEmpty();
        assertThat(plan.targets().get(job("long"))).hasSize(2);
        assertThat(plan.targets().get(job("last"))).hasSize(1);
    }

    @Test
    void aJobThatRunsKeepsItsBaseDemand() {
        Plan plan = lyra.plan(lendable(List.of(elastic("short", 10), elastic("long", 90, gpu(0, 0))), 1));

        assertThat(plan.targets().get(job("long"))).containsExactly(gpu(0, 0));
        assertThat(plan.targets().get(job("short"))).isEmpty();
    }

    /**
     * With 2 to 4 GPUs 120 s become 60, 40, 30, and 60 s become 30, 20, 15: 80 + 30 is most for three extra workers.
     */
    @Test
    void givesTheRestWhereItShortensJobsMost() {
        Plan plan = lyra.plan(lendable(List.of(elastic("a", 60), elastic("b", 120)), 5));

        assertThat(plan.targets().get(job("a"))).hasSize(2);
        assertThat(plan.targets().get(job("b"))).hasSize(3);
    }

    private static String text(Plan plan, String name) {
        return Objects.requireNonNull(plan.reasons().get(job(name))).text();
    }

    @Test
    void givesTheReasonForEachSize() {
        Plan starts = lyra.plan(lendable(List.of(elastic("a", 60), elastic("b", 120), rigid("c", 2, 10)), 7));
        Plan stops = lyra.plan(lendable(
                List.of(elastic("long", 90, gpu(0, 0)), rigid("short", 2, 10, gpu(0, 1), gpu(0, 2))), 2));

        assertThat(text(starts, "a"))
                .isEqualTo(
                        "a starts on 2 GPUs: running jobs come before waiting ones, each by remaining time; it needs 1"
                                + " GPU and gets 1 more; further GPUs go where they save all jobs together the most time"
                                + " (7 GPUs, 3 jobs)");
        assertThat(text(starts, "c"))
                .isEqualTo(
                        "c starts on 2 GPUs: running jobs come before waiting ones, each by remaining time; it runs on"
                                + " exactly 2 GPUs (7 GPUs, 3 jobs)");
        assertThat(text(stops, "long"))
                .isEqualTo("long gives up its GPU and waits: running jobs come before waiting ones, each by remaining"
                        + " time, and no GPU is left (2 GPUs, 2 jobs)");
    }

    @Test
    void aJobThatNoGpuShortensGetsNone() {
        Plan plan = lyra.plan(lendable(List.of(job("flat", 1, List.of(), pace(10, 0), Optional.empty())), 4));

        assertThat(plan.targets().get(job("flat"))).hasSize(1);
    }

    @Test
    void baseDemandGoesToTrainingNodesAndExtraWorkersToLentOnes() {
        Plan plan = lyra.plan(lendable(List.of(elastic("a", 60), elastic("b", 60)), 2, 2));

        assertThat(plan.targets().get(job("a"))).containsExactly(gpu(0, 0), gpu(1, 0));
        assertThat(plan.targets().get(job("b"))).containsExactly(gpu(0, 1), gpu(1, 1));
    }

    @Test
    void shrinkingGivesLentGpusBackFirst() {
        Plan plan = lyra.plan(lendable(
                List.of(elastic("old", 60, gpu(1, 0), gpu(0, 0)), rigid("new", 1, 10), rigid("newer", 1, 10)), 1, 2));

        assertThat(plan.targets().get(job("old"))).containsExactly(gpu(0, 0));
    }

    @Test
    void reclaimsExtraWorkersBeforeItStopsAJob() {
        ClusterView view = lendable(
                List.of(rigid("r", 1, 10, gpu(1, 0)), elastic("e", 10, gpu(0, 0), gpu(2, 0), gpu(2, 1))), 1, 2, 2);

        assertThat(lyra.victims(view, 1)).containsExactly(gpu(2, 1));
        assertThat(lyra.victims(view, 2)).containsExactly(gpu(2, 1), gpu(2, 0));
        assertThat(lyra.victims(view, 3)).containsExactly(gpu(2, 1), gpu(2, 0), gpu(1, 0));
    }

    /**
     * On node 1 stand one third of {@code wide} and half of {@code two}, on node 2 another third, on node 3 the last
     * and the other half: node 2 is cheapest, and stopping {@code wide} frees all its GPUs.
     */
    @Test
    void stopsTheJobsOnTheServerThatCostsLeast() {
        ClusterView view = lendable(
                List.of(
                        rigid("two", 2, 10, gpu(1, 1), gpu(3, 1)),
                        rigid("wide", 3, 10, gpu(1, 0), gpu(2, 0), gpu(3, 0))),
                1,
                2,
                2,
                2);

        assertThat(lyra.victims(view, 1)).containsExactly(gpu(1, 0), gpu(2, 0), gpu(3, 0));
        assertThat(lyra.victims(view, 4)).hasSize(5);
    }
}

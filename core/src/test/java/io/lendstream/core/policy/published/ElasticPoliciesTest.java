package io.lendstream.core.policy.published;

import static io.lendstream.core.policy.Views.NOW;
import static io.lendstream.core.policy.Views.cluster;
import static io.lendstream.core.policy.Views.gpu;
import static io.lendstream.core.policy.Views.job;
import static io.lendstream.core.policy.Views.pace;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Pace;
import io.lendstream.core.policy.Plan;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** AFS and Optimus: GPU by GPU to whom it helps most, by two measures. */
class ElasticPoliciesTest {
    private static JobView runs(String name, Pace pace, GpuId... held) {
        return job(name, 1, List.of(held), pace, Optional.empty());
    }

    @Test
    void afsServesTheShorterJobWhereNotAllFit() {
        Plan plan = new Afs().plan(cluster(List.of(runs("long", pace(50, 1)), runs("short", pace(10, 1))), 1));

        assertThat(plan.targets().get(job("short"))).hasSize(1);
        assertThat(plan.targets().get(job("long"))).isEmpty();
    }

    @Test
    void afsGivesTheRestToWhoScalesBetter() {
        Plan plan = new Afs().plan(cluster(List.of(runs("flat", pace(50, .1)), runs("steep", pace(50, 1))), 4));

        assertThat(plan.targets().get(job("flat"))).hasSize(1);
        assertThat(plan.targets().get(job("steep"))).hasSize(3);
    }

    @Test
    void optimusGivesTheRestToWhoseRemainingTimeShrinksMost() {
        Plan plan = new Optimus().plan(cluster(List.of(runs("little", pace(10, 1)), runs("much", pace(100, 1))), 4));

        assertThat(plan.targets().get(job("little"))).hasSize(1);
        assertThat(plan.targets().get(job("much"))).hasSize(3);
    }

    @Test
    void optimusLeavesGpusForReplicasThatWaitOnTheEmptiestNode() {
        ClusterView view = cluster(List.of(runs("a", pace(10, 1))), 1, 3);
        ClusterView waiting = new ClusterView(NOW, view.jobs(), view.gpus(), view.fixed(), 2, 3, 1);

        Plan plan = new Optimus().plan(waiting);

        assertThat(plan.left()).containsExactly(gpu(1, 0));
        assertThat(plan.targets().get(job("a"))).containsExactly(gpu(1, 1), gpu(1, 2), gpu(0, 0));
    }

    private static String text(Plan plan, String name) {
        return Objects.requireNonNull(plan.reasons().get(job(name))).text();
    }

    @Test
    void afsGivesTheReasonForEachSize() {
        Plan starts = new Afs().plan(cluster(List.of(runs("flat", pace(50, .1)), runs("steep", pace(50, 1))), 4));
        Plan stops =
                new Afs().plan(cluster(List.of(runs("long", pace(50, 1), gpu(0, 0)), runs("short", pace(10, 1))), 1));

        assertThat(text(starts, "flat"))
                .isEqualTo(
                        "flat starts on 1 GPU: jobs with the least remaining time come first; it needs 1 GPU and gets"
                                + " no more; each further GPU goes to the job whose throughput it raises most in proportion"
                                + " (4 GPUs, 2 jobs)");
        assertThat(text(starts, "steep")).contains("; it needs 1 GPU and gets 2 more; each further GPU goes to ");
        assertThat(text(stops, "long"))
                .isEqualTo(
                        "long gives up its GPU and waits: jobs with the least remaining time come first, and no GPU is"
                                + " left (1 GPU, 2 jobs)");
    }

    @Test
    void optimusGivesTheReasonForEachSize() {
        Plan starts = new Optimus().plan(cluster(List.of(runs("little", pace(10, 1)), runs("much", pace(100, 1))), 4));
        Plan shrinks = new Optimus()
                .plan(cluster(
                        List.of(
                                runs("little", pace(10, 1), gpu(0, 0), gpu(0, 1)),
                                runs("much", pace(100, 1), gpu(0, 2))),
                        3));

        assertThat(text(starts, "much"))
                .isEqualTo("much starts on 3 GPUs: jobs that need the fewest GPUs come first; it needs 1 GPU and gets 2"
                        + " more; each further GPU goes to the job whose remaining time it shortens most"
                        + " (4 GPUs, 2 jobs)");
        assertThat(text(shrinks, "little"))
                .startsWith("little shrinks from 2 to 1 GPU: it needs 1 GPU and gets no more; each further GPU");
    }

    @Test
    void aJobWhoseGpusCannotBeUsedLosesThemAndDoesNotShrink() {
        Plan plan = new Afs().plan(cluster(List.of(runs("a", pace(10, 1), gpu(0, 0), gpu(7, 0))), 1));

        assertThat(text(plan, "a")).startsWith("a loses 1 of its 2 GPUs and goes on with 1 GPU: it needs 1 GPU");
    }

    @Test
    void aJobWhoseSizeStaysKeepsItsGpus() {
        Plan plan = new Afs().plan(cluster(List.of(runs("a", pace(10, 1), gpu(1, 1)), runs("b", pace(10, 1))), 1, 2));

        assertThat(plan.targets().get(job("a"))).containsExactly(gpu(1, 1));
        assertThat(plan.targets().get(job("b"))).containsExactly(gpu(0, 0), gpu(1, 0));
    }
}

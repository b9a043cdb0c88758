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

    @Test
    void aJobWhoseSizeStaysKeepsItsGpus() {
        Plan plan = new Afs().plan(cluster(List.of(runs("a", pace(10, 1), gpu(1, 1)), runs("b", pace(10, 1))), 1, 2));

        assertThat(plan.targets().get(job("a"))).containsExactly(gpu(1, 1));
        assertThat(plan.targets().get(job("b"))).containsExactly(gpu(0, 0), gpu(1, 0));
    }
}

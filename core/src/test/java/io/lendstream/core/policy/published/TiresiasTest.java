package io.lendstream.core.policy.published;

import static io.lendstream.core.policy.Views.NOW;
import static io.lendstream.core.policy.Views.cluster;
import static io.lendstream.core.policy.Views.gpu;
import static io.lendstream.core.policy.Views.job;
import static io.lendstream.core.policy.Views.pace;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobSite;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.NodeLayout;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.ShapedJob;
import io.lendstream.core.state.QueuePosition;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TiresiasTest {
    private final Tiresias policy = new Tiresias(1);

    private static QueuePosition served(Duration time, int queue) {
        return new QueuePosition(queue, NOW.minus(time), time, Optional.of(NOW));
    }

    @Test
    void firstComeFirstServedAndAllOrNothing() {
        Plan plan = policy.plan(cluster(List.of(job("a", 3), job("b", 2), job("c", 1)), 2, 2));

        assertThat(plan.targets().get(job("a"))).containsExactly(gpu(0, 0), gpu(0, 1), gpu(1, 0));
        assertThat(plan.targets()).doesNotContainKey(job("b"));
        assertThat(plan.targets().get(job("c"))).containsExactly(gpu(1, 1));
    }

    @Test
    void anHourOfGpuTimeLaterAJobComesAfterTheOthers() {
        JobView old = job(
                "old", 2, List.of(gpu(0, 0), gpu(0, 1)), pace(1, 1), Optional.of(served(Duration.ofMinutes(30), 0)));

        Plan plan = policy.plan(cluster(List.of(old, job("new", 1)), 2));

        assertThat(plan.standings().get(job("old")))
                .isEqualTo(new QueuePosition(1, NOW, Duration.ofMinutes(30), Optional.empty()));
        assertThat(plan.targets().get(job("old"))).isEmpty();
        assertThat(plan.targets().get(job("new"))).hasSize(1);
    }

    private static String text(Plan plan, String name) {
        return Objects.requireNonNull(plan.reasons().get(job(name))).text();
    }

    @Test
    void theReasonNamesTheQueueTheRunTimeAndTheGpusThatAreLeft() {
        JobView old = job(
                "old", 2, List.of(gpu(0, 0), gpu(0, 1)), pace(1, 1), Optional.of(served(Duration.ofMinutes(30), 0)));

        Plan plan = policy.plan(cluster(List.of(old, job("new", 1)), 2));

        assertThat(text(plan, "old"))
                .isEqualTo(
                        "old gives up its 2 GPUs and waits: it is in queue 1 after 1800 s of run time, and fewer than"
                                + " the 2 GPUs that it asked for are left; queue 0 comes first, and in a queue the job that"
                                + " joined it first");
        assertThat(text(plan, "new"))
                .isEqualTo(
                        "new starts on 1 GPU: it is in queue 0 after 0 s of run time, and the 1 GPU that it asked for"
                                + " is left; queue 0 comes first, and in a queue the job that joined it first");
    }

    @Test
    void aJobThatNoNumberOfGpusFitsKeepsItsQueueAndHasThatReason() {
        JobView old = job(
                "old", 2, List.of(gpu(0, 0), gpu(0, 1)), pace(1, 1), Optional.of(served(Duration.ofMinutes(10), 0)));
        JobShape nines = JobShape.multiples(9);
        ClusterView view = cluster(List.of(new ShapedJob(old, nines, JobSite.of(nines, ALIKE), Optional.empty())), 2);

        Plan plan = policy.plan(view);

        assertThat(plan.targets().get(job("old"))).isEmpty();
        assertThat(Objects.requireNonNull(plan.standings().get(job("old"))).queue())
                .isZero();
        assertThat(text(plan, "old")).contains("the nodes have no number of GPUs that its shape allows");
        assertThat(text(new Afs().plan(view), "old"))
                .contains("the nodes have no number of GPUs that its shape allows");
    }

    private static final NodeLayout ALIKE = new NodeLayout() {
        @Override
        public int gpusOf(NodeId node) {
            return 2;
        }

        @Override
        public String domain(NodeId node, TopologyLevel level) {
            return "";
        }
    };

    @Test
    void aJobThatGetsFewerGpusThanItAskedForHasThatReason() {
        JobView large =
                job("large", 1, List.of(gpu(0, 0), gpu(0, 1)), pace(1, 1), Optional.of(served(Duration.ZERO, 0)));

        Plan plan = policy.plan(cluster(List.of(large, job("new", 2)), 3));

        assertThat(text(plan, "new"))
                .startsWith("new starts on 1 GPU: it is in queue 0 after 0 s of run time, and only 1 of the 2 GPUs that"
                        + " it asked for is free; ");
    }

    @Test
    void whoRunsStaysWhereItIs() {
        JobView running = job("running", 1, List.of(gpu(1, 0)), pace(1, 1), Optional.of(served(Duration.ZERO, 0)));

        assertThat(policy.plan(cluster(List.of(running), 2, 2)).targets()).isEmpty();
    }

    @Test
    void leavesRoomForReplicasThatWait() {
        ClusterView view = cluster(List.of(job("a", 2)), 2);
        ClusterView waiting = new ClusterView(NOW, view.jobs(), view.gpus(), view.fixed(), 1, 2, 1);

        assertThat(policy.plan(waiting).targets()).isEmpty();
    }
}

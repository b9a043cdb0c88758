package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Owner;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Units that a plan in force takes back: loans, sleeping replicas, and replicas whose work others do. */
class RepartitioningReclaimsTest extends RepartitioningFixture {
    @Test
    void aLoanInTheWayIsTakenBackAndItsPriceIsNamed() {
        cluster("3g.40gb@0");
        lends("cut-g0/0:4", "small");

        ticked(cut("4g.40gb chat", "2g.20gb search"));

        Decision reclaim = only();
        assertThat(reclaim.action().gpus()).containsExactly(new GpuId("cut-g0/0:4"));
        double share = 39.25 / 80;
        double lost = share * (600 + 24);
        assertThat(reclaim.reason().code()).isEqualTo("slices");
        assertThat(reclaim.reason().text())
                .isEqualTo("small gives 1 MIG instance back and waits: its place goes to chat, search, where 370.0 more"
                        + " requests/s are answered within the SLO and training loses 306 GPU-seconds"
                        + " (1.21 requests/s for each) (plan: as the test has it)");
        assertThat(reclaim.reason().numbers())
                .containsEntry("servedPerSecond", 370.0)
                .containsEntry("lostGpuSeconds", lost)
                .containsEntry("plannedPerSecond", 50.0);
        assertThat(reclaim.deadline()).isEqualTo(state.now().plusSeconds(45));
    }

    @Test
    void aLoanOnAnInstanceThatFitsIsTakenBackToo() {
        cluster("1g.10gb@0");
        lends("cut-g0/0:1", "small");

        ticked(cut("1g.10gb chat"));

        assertThat(kinds()).containsExactly("reclaim small");
        assertThat(only().reason().text())
                .startsWith(
                        "small gives 1 MIG instance back and waits: its place goes to chat, where 60.0 more requests/s");
    }

    @Test
    void aReplicaThatSleepsInTheWayIsStopped() {
        switchable("");
        state.owner("cut-g0", new Owner.Sleeping(CHAT));

        ticked(cut("1g.10gb search"));

        assertThat(kinds()).contains("idle chat");
        Decision stopped = step.decisions().get(0);
        assertThat(stopped.reason().text())
                .isEqualTo("chat idles 1 replica: its place goes to MIG instances (plan: as the test has it)");
        assertThat(stopped.action().gpus()).containsExactly(new GpuId("cut-g0"));
        assertThat(owner("cut-g0")).isInstanceOf(Owner.Releasing.class);
        assertThat(kinds()).doesNotContain("repartition");
    }

    @Test
    void theGpuWhereLeastTrainingIsLostIsTaken() {
        cluster("1g.10gb@0", "1g.10gb@0", "1g.10gb@0");
        lends("cut-g0/0:1", "a", story.now().plusSeconds(600));
        lends("cut-g1/0:1", "b", story.now().plusSeconds(400));
        lends("cut-g2/0:1", "c", story.now().plusSeconds(500));

        ticked(cut("1g.10gb chat"));

        assertThat(kinds()).containsExactly("reclaim b");
    }

    @Test
    void aGpuInTransferIsTakenFirst() {
        cluster("1g.10gb@0", "1g.10gb@0");
        state.owner(
                "cut-g1/0:1",
                new Owner.Releasing(
                        new Tenant.Job(new JobId("a")),
                        BEFORE,
                        state.now(),
                        state.now().plusSeconds(45)));

        ticked(cut("1g.10gb chat"));

        assertThat(step.decisions()).as("it waits for that GPU").isEmpty();
    }

    @Test
    void anInstanceIsDrainedOnceOthersDoItsWork() {
        cluster("1g.10gb@0", "2g.20gb@0");
        state.owner("cut-g0/0:1", SERVES).owner("cut-g1/0:2", SERVES);

        ticked(cut("2g.20gb chat"));

        Decision drained = only();
        assertThat(drained.action()).isInstanceOf(Action.Idle.class);
        assertThat(drained.action().gpus()).containsExactly(new GpuId("cut-g0/0:1"));
        assertThat(drained.deadline()).isEqualTo(state.now().plusSeconds(30));
        assertThat(drained.reason().text())
                .isEqualTo(
                        "chat drains 1 MIG instance: its other replicas answer its 50.0 requests/s (plan: as the test has it)");
        assertThat(owner("cut-g0/0:1")).isInstanceOf(Owner.Releasing.class);
        assertThat(owner("cut-g1/0:2")).isEqualTo(SERVES);
    }

    @Test
    void anInstanceIsNotDrainedWhileOthersAreStillComing() {
        cluster("1g.10gb@0", "2g.20gb@0");
        state.owner("cut-g0/0:1", SERVES)
                .owner(
                        "cut-g1/0:2",
                        new Owner.Binding(
                                new Tenant.Service(CHAT), BEFORE, state.now().plusSeconds(16), Optional.empty(), 1));

        ticked(cut("2g.20gb chat"));

        assertThat(step.decisions()).isEmpty();
    }
}

package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** GPUs that are cut for a plan in force, and made whole when no service needs them. */
class RepartitioningCutsTest extends RepartitioningFixture {
    @Test
    void aGpuIsCutIntoWhatThePlanHasBiggestFirst() {
        cluster("7g.80gb@0");

        ticked(cut("4g.40gb chat", "2g.20gb search", "1g.20gb chat"));

        Decision recut = only();
        assertThat(recut.action())
                .isEqualTo(new Action.Repartition(
                        List.of(new GpuId("cut-g0")), List.of("4g.40gb@0", "2g.20gb@4", "1g.20gb@6")));
        assertThat(recut.deadline()).isEqualTo(state.now().plusSeconds(120));
        assertThat(recut.reason().code()).isEqualTo("slices");
        assertThat(recut.reason().text())
                .startsWith("cut-g0 is cut into 1 × 4g.40gb, 1 × 2g.20gb and 1 × 1g.20gb for ")
                .endsWith(" (plan: as the test has it)")
                .contains("chat", "search");
        assertThat(recut.reason().numbers()).containsOnly(Map.entry("instances", 3.0), Map.entry("removed", 1.0));
        assertThat(recut.reason().inputs()).containsExactly(state.state().eventSequence() + 1);
        Instant by = state.now().plusSeconds(120);
        assertThat(owner("cut-g0/0:8")).isEqualTo(new Owner.Recutting(recut.id(), by, false));
        assertThat(owner("cut-g0/0:4")).isEqualTo(new Owner.Recutting(recut.id(), by, true));
        assertThat(owner("cut-g0/4:2")).isEqualTo(new Owner.Recutting(recut.id(), by, true));
        assertThat(owner("cut-g0/6:2")).isEqualTo(new Owner.Recutting(recut.id(), by, true));
        GpuState four = step.state().gpus().require(new GpuId("cut-g0/0:4"));
        assertThat(four.nodeId()).isEqualTo(new NodeId("cut"));
        assertThat(four.pool()).isEqualTo(Pool.INFERENCE);
        assertThat(four.instance()).contains(new MigInstance(new GpuId("cut-g0"), "4g.40gb", 0, 4, 40L << 30, 0.5));
    }

    @Test
    void ofTwoInstancesWithAsMuchMemoryTheOneWithMoreComputeIsNamedFirst() {
        cluster("7g.80gb@0");

        ticked(cut("4g.40gb chat", "3g.40gb search"));

        assertThat(((Action.Repartition) only().action()).profiles()).containsExactly("4g.40gb@0", "3g.40gb@4");
    }

    @Test
    void ofTwoInstancesAlikeTheFirstByPlaceIsNamedFirst() {
        cluster("7g.80gb@0");

        ticked(cut("3g.40gb chat", "3g.40gb search"));

        assertThat(((Action.Repartition) only().action()).profiles()).containsExactly("3g.40gb@0", "3g.40gb@4");
    }

    @Test
    void instancesBesideWhichThereIsRoomStayAsTheyAre() {
        cluster("1g.10gb@0");
        state.owner("cut-g0/0:1", SERVES);

        ticked(cut("3g.40gb search", "1g.10gb chat"));

        Decision recut = only();
        assertThat(((Action.Repartition) recut.action()).profiles()).containsExactly("3g.40gb@4", "1g.10gb@0");
        assertThat(recut.reason().text()).contains(" for search (plan: as the test has it)");
        assertThat(recut.reason().numbers()).containsEntry("removed", 0.0);
        assertThat(owner("cut-g0/0:1")).isEqualTo(SERVES);
        assertThat(owner("cut-g0/4:4")).isInstanceOf(Owner.Recutting.class);
    }

    @Test
    void noGpuIsCutBeforeThePauseAfterAFailedCutIsOver() {
        cluster("7g.80gb@0");
        cutsFrom = state.now().plusMillis(1);
        ticked(cut("3g.40gb chat"));
        assertThat(step.decisions()).isEmpty();

        cutsFrom = state.now();
        ticked(cut("3g.40gb chat"));
        assertThat(kinds()).containsExactly("repartition");
    }

    @Test
    void aGpuThatIsBeingCutIsNotCutAgain() {
        cluster("7g.80gb@0");
        ticked(cut("3g.40gb chat"));
        Step cut = step;
        state = new EditedState(story);
        state.owner(
                "cut-g0/0:8",
                cut.state().gpus().require(new GpuId("cut-g0/0:8")).owner());

        ticked(cut("3g.40gb chat"));

        assertThat(step.decisions()).isEmpty();
    }

    @Test
    void aGpuThatNeedNotBeSwitchedIsTakenRatherThanOneThatMust() {
        switchable("", "1g.10gb@0");

        ticked(cut("1g.10gb chat"));

        assertThat(kinds()).containsExactly("serve chat");
        assertThat(only().action().gpus()).containsExactly(new GpuId("cut-g1/0:1"));
    }

    @Test
    void onceAllIsAsPlannedWhatIsLeftBecomesWholeAgain() {
        cluster("1g.10gb@0", "1g.10gb@0 1g.10gb@1", "7g.80gb@0");
        state.owner("cut-g0/0:1", SERVES);

        ticked(cut("1g.10gb chat"));

        assertThat(only().action())
                .isEqualTo(new Action.Repartition(List.of(new GpuId("cut-g1")), List.of("7g.80gb@0")));
        assertThat(only().reason().text())
                .isEqualTo(
                        "cut-g1 is cut into 1 × 7g.80gb so that it can be lent: no service needs it (plan: as the test has it)");
        assertThat(only().reason().numbers()).containsOnly(Map.entry("instances", 1.0), Map.entry("removed", 2.0));
        assertThat(owner("cut-g1/0:8"))
                .isEqualTo(new Owner.Recutting(only().id(), state.now().plusSeconds(120), true));
    }

    @Test
    void whereItMayBeSwitchedWhatIsLeftLeavesMigMode() {
        switchable("1g.10gb@0", "7g.80gb@0", "");
        state.owner("cut-g0/0:1", SERVES);

        ticked(cut("1g.10gb chat"));

        assertThat(only().action()).isEqualTo(new Action.Repartition(List.of(new GpuId("cut-g1")), List.of()));
        assertThat(only().reason().text())
                .isEqualTo(
                        "cut-g1 leaves MIG mode so that it can be lent: no service needs it (plan: as the test has it)");
        assertThat(only().reason().numbers()).containsOnly(Map.entry("instances", 0.0), Map.entry("removed", 1.0));
        assertThat(owner("cut-g1/0:8")).isInstanceOf(Owner.Recutting.class);
        assertThat(owner("cut-g1"))
                .isEqualTo(new Owner.Recutting(only().id(), state.now().plusSeconds(120), true));
        assertThat(step.state().gpus().require(new GpuId("cut-g1")).isWhole()).isTrue();
    }

    @Test
    void aGpuIsNotMadeWholeWhileItHasATenantOrAnotherStepRuns() {
        cluster("1g.10gb@0", "1g.10gb@0 1g.10gb@1");
        state.owner("cut-g0/0:1", SERVES);
        lends("cut-g1/0:1", "small");
        ticked(cut("1g.10gb chat"));
        assertThat(step.decisions()).isEmpty();

        state.owner("cut-g1/0:1", new Owner.Recutting(BEFORE, state.now().plusSeconds(60), true));
        ticked(cut("1g.10gb chat"));
        assertThat(kinds()).doesNotContain("repartition");
    }

    @Test
    void whereNoServiceIsKnownToRunOnInstancesThePlanBecomesEmptyAndGpusWhole() {
        cluster("1g.10gb@0");
        scheduler = new Scheduler(scheduler.policy(), scheduler.settings(), (service, gpu) -> Optional.empty());

        ticked(plan(List.of(CHAT), cut("1g.10gb chat")).consideredAt(state.now().minus(ofMinutes(6))));

        assertThat(step.state().slices().orElseThrow().cuts()).isEmpty();
        assertThat(only().reason().text())
                .isEqualTo("cut-g0 is cut into 1 × 7g.80gb so that it can be lent:"
                        + " no service needs it (plan: no service runs on MIG instances)");
    }
}

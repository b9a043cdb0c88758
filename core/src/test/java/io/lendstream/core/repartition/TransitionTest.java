package io.lendstream.core.repartition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.batching.Packing;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigPlace;
import io.lendstream.core.mig.MigProfile;
import io.lendstream.core.repartition.RepartitionStep.Create;
import io.lendstream.core.repartition.RepartitionStep.Destroy;
import io.lendstream.core.repartition.RepartitionStep.Drain;
import io.lendstream.core.repartition.RepartitionStep.Warm;
import io.lendstream.core.repartition.Transition.Shortfall;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** On A100s, where each compute slice answers ten requests a second of any service. */
class TransitionTest {
    private static final MigLayouts LAYOUTS = Cases.kind("A100-80GB");
    private static final GpuId A = new GpuId("a");
    private static final GpuId B = new GpuId("b");
    private static final Instance WHOLE = instance(A, "7g.80gb", 0, "x");
    private static final Packing FOUR_AND_THREE = new Packing(List.of(cut("x 4g.40gb", "y 3g.40gb")));

    private static MigProfile profile(String name) {
        return LAYOUTS.gpu().profile(name).orElseThrow();
    }

    private static Instance instance(GpuId gpu, String profile, int start, String service) {
        return new Instance(gpu, new MigPlace(profile(profile), start), service);
    }

    /** Each a service, x, y or z, and its profile. */
    private static Packing.Cut cut(String... instances) {
        return new Packing.Cut(
                Stream.of(instances).map(each -> profile(each.substring(2))).toList(),
                Stream.of(instances).map(each -> each.charAt(0) - 'x').toList());
    }

    private static List<Packing.Demand> demands(double x, double y, double z) {
        var capacities = LAYOUTS.gpu().profiles().stream()
                .collect(Collectors.toMap(profile -> profile, profile -> 10.0 * profile.computeSlices()));
        return List.of(
                new Packing.Demand("x", x, capacities),
                new Packing.Demand("y", y, capacities),
                new Packing.Demand("z", z, capacities));
    }

    private static TransitionPlanner planner(boolean mayFallShort) {
        RepartitionTimes times = RepartitionTimes.DEFAULT
                .with("x", Duration.ofSeconds(30), Duration.ofMillis(200))
                .with("y", Duration.ofSeconds(10), Duration.ofMillis(100));
        return new TransitionPlanner(LAYOUTS, times, mayFallShort);
    }

    @Test
    void whatIsNewTakesOverOnAnEmptyGpuBeforeTheOldGoes() {
        Transition transition = planner(false).plan(List.of(A, B), List.of(WHOLE), FOUR_AND_THREE, demands(40, 30, 1));

        Instance four = instance(B, "4g.40gb", 0, "x");
        Instance three = instance(B, "3g.40gb", 4, "y");
        assertThat(transition.steps())
                .containsExactly(
                        new Create(0, four),
                        new Create(0, three),
                        new Warm(1, four),
                        new Warm(1, three),
                        new Drain(2, WHOLE),
                        new Destroy(3, WHOLE));
        assertThat(transition.end()).containsExactly(four, three);
        assertThat(transition.free()).containsExactly(A);
        assertThat(transition.duration())
                .as("creations of one GPU one after the other, loads at once")
                .isEqualTo(Duration.ofMillis(2 * 2_000 + 30_000 + 200 + 1_000));
    }

    @Test
    void leavesOutWhatNoRoomIsLeftForAndSaysWhoWouldFallShort() {
        Transition transition = planner(false).plan(List.of(A), List.of(WHOLE), FOUR_AND_THREE, demands(40, 30, 1));

        assertThat(transition.isComplete()).isFalse();
        assertThat(transition.steps()).isEmpty();
        assertThat(transition.end()).containsExactly(WHOLE);
        assertThat(transition.shortfalls()).containsExactly(new Shortfall("x", 40, 0));
        assertThat(transition.shortfalls().get(0)).hasToString("x needs 40.0 requests/s and would have 0.0");
    }

    @Test
    void goesOnWhereServicesMayFallShort() {
        Transition transition = planner(true).plan(List.of(A), List.of(WHOLE), FOUR_AND_THREE, demands(40, 30, 1));

        assertThat(transition.isComplete()).isTrue();
        assertThat(transition.steps().get(0)).isEqualTo(new Drain(0, WHOLE));
        assertThat(transition.shortfalls()).containsExactly(new Shortfall("x", 40, 0));
    }

    @Test
    void othersServeForAWhileWhereThereIsRoom() {
        Instance x = instance(A, "3g.40gb", 0, "x");
        Instance y = instance(A, "3g.40gb", 4, "z");
        Instance kept = instance(B, "4g.40gb", 0, "y");
        Packing target = new Packing(List.of(cut("z 4g.40gb", "x 3g.40gb"), cut("y 4g.40gb")));

        Transition transition = planner(false).plan(List.of(A, B), List.of(x, y, kept), target, demands(25, 40, 25));

        assertThat(transition.isComplete()).isTrue();
        assertThat(transition.target()).contains(kept);
        assertThat(transition.creations()).isEqualTo(3);
        assertThat(transition.steps().get(0).instance().gpu()).isEqualTo(B);
    }

    @Test
    void survivorsThatLeaveNoPlaceAreGivenUpAndNoOthers() {
        Instance inTheWay = instance(A, "1g.10gb", 0, "x");
        Instance survivor = instance(A, "1g.10gb", 5, "x");
        Packing target = new Packing(List.of(cut("y 4g.40gb", "x 1g.10gb", "x 1g.10gb")));

        Transition transition =
                planner(false).plan(List.of(A), List.of(inTheWay, survivor), target, demands(10, 40, 1));

        assertThat(transition.target())
                .contains(instance(A, "4g.40gb", 0, "y"), survivor)
                .doesNotContain(inTheWay);
        assertThat(transition.isComplete()).isTrue();
    }

    @Test
    void anInstanceThatAnswersManyRequestsStaysRatherThanOneThatAnswersFew() {
        Instance busy = instance(A, "7g.80gb", 0, "x");
        Instance idle = instance(B, "7g.80gb", 0, "y");
        Packing target = new Packing(List.of(cut("z 4g.40gb", "z 3g.40gb"), cut("x 7g.80gb")));

        Transition transition = planner(false).plan(List.of(A, B), List.of(busy, idle), target, demands(70, 1, 60));

        assertThat(transition.target()).contains(busy);
    }

    @Test
    void whatRunsAsPlannedStays() {
        Transition transition = planner(false)
                .plan(List.of(A, B), List.of(WHOLE), new Packing(List.of(cut("x 7g.80gb"))), demands(40, 1, 1));

        assertThat(transition.steps()).isEmpty();
        assertThat(transition.isComplete()).isTrue();
        assertThat(transition.duration()).isZero();
        assertThat(transition.free()).containsExactly(B);
    }

    @Test
    void refusesWhatCannotBe() {
        List<Packing.Demand> demands = demands(1, 1, 1);
        assertThatThrownBy(() -> planner(false).plan(List.of(), List.of(), FOUR_AND_THREE, demands))
                .hasMessage("the target needs 1 GPUs, but only 0 may be used; add 1");
        assertThatThrownBy(() -> planner(false).plan(List.of(B), List.of(WHOLE), FOUR_AND_THREE, demands))
                .hasMessageContaining("x on a 7g.80gb@0 runs on GPU a, which is not among those");
        Packing twoFours = new Packing(List.of(cut("x 4g.40gb", "x 4g.40gb")));
        assertThatThrownBy(() -> planner(false).plan(List.of(A), List.of(), twoFours, demands))
                .hasMessageContaining("cannot be cut into [4g.40gb, 4g.40gb]");
        assertThatThrownBy(() -> RepartitionTimes.DEFAULT.with("x", Duration.ofSeconds(-1), Duration.ZERO))
                .hasMessage("load of x must take at least PT0S, but takes PT-1S");
    }
}

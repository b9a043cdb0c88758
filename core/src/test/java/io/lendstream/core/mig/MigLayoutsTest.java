package io.lendstream.core.mig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Counts as in NVIDIA's MIG user guide and, for A100, the 19 configurations that MISO, Clover and MIGER list. */
class MigLayoutsTest {
    private static final MigGpu A100 = MigGpu.named("A100-80GB").orElseThrow();
    private static final MigLayouts LAYOUTS = MigLayouts.of(A100.plain());

    private static MigProfile profile(String name) {
        return A100.profile(name).orElseThrow();
    }

    private static List<MigProfile> profiles(String... names) {
        return List.of(names).stream().map(MigLayoutsTest::profile).toList();
    }

    @Test
    void anA100HasItsKnownLayouts() {
        assertThat(LAYOUTS.states()).hasSize(298);
        assertThat(LAYOUTS.maximal()).hasSize(19);
        assertThat(LAYOUTS.cuts()).hasSize(12);
        assertThat(LAYOUTS.cuts().stream()
                        .map(cut -> cut.stream()
                                .map(profile -> String.valueOf(profile.computeSlices()))
                                .collect(Collectors.joining("+")))
                        .toList())
                .containsExactlyInAnyOrder(
                        "7",
                        "4+3",
                        "4+2+1",
                        "4+1+1+1",
                        "3+3",
                        "3+2+2",
                        "3+2+1+1",
                        "3+1+1+1+1",
                        "2+2+2+1",
                        "2+2+1+1+1",
                        "2+1+1+1+1+1",
                        "1+1+1+1+1+1+1");
    }

    @Test
    void withDoubleMemoryThereAreMore() {
        MigLayouts layouts = MigLayouts.of(A100.withoutMediaEngines());

        assertThat(layouts.states()).hasSize(723);
        assertThat(layouts.maximal()).hasSize(78);
        assertThat(layouts.cuts()).hasSize(28);
    }

    @Test
    void anA30HasItsOwn() {
        MigLayouts layouts = MigLayouts.of(MigGpu.named("A30").orElseThrow().plain());

        assertThat(layouts.states()).hasSize(26);
        assertThat(layouts.maximal()).hasSize(5);
        assertThat(layouts.cuts()).hasSize(4);
    }

    @Test
    void driversBeforeR510KnowNo4gBeside3g() {
        MigLayouts layouts = MigLayouts.beforeR510(A100.plain());

        assertThat(layouts.maximal()).hasSize(18);
        assertThat(layouts.place(List.of(), profiles("4g.40gb", "3g.40gb"))).isEmpty();
        assertThat(LAYOUTS.place(List.of(), profiles("4g.40gb", "3g.40gb")).orElseThrow())
                .hasToString("[4g.40gb@0, 3g.40gb@4]");
    }

    @Test
    void allGpusOfEightMemorySlicesAreCutAlike() {
        for (MigGpu gpu : MigGpu.KNOWN) {
            if (gpu.memorySlices() == 8) {
                assertThat(MigLayouts.of(gpu.plain()).maximal()).as(gpu.model()).hasSize(19);
            }
        }
    }

    @Test
    void computeSlicesAreNeverExceeded() {
        for (MigGpu gpu : MigGpu.KNOWN) {
            assertThat(MigLayouts.of(gpu.withoutMediaEngines()).states())
                    .as(gpu.model())
                    .allMatch(state -> state.stream()
                                    .mapToInt(place -> place.profile().computeSlices())
                                    .sum()
                            <= gpu.computeSlices());
        }
    }

    @Test
    void aThreeGoesToTheSecondHalfUnlessThatIsTaken() {
        assertThat(LAYOUTS.place(List.of(), profiles("3g.40gb")).orElseThrow()).hasToString("[3g.40gb@4]");
        assertThat(LAYOUTS.place(List.of(), profiles("1g.10gb", "1g.10gb", "2g.20gb", "3g.40gb"))
                        .orElseThrow())
                .as("biggest first: the order that the driver needs")
                .extracting(place -> place.profile().computeSlices())
                .containsExactly(3, 2, 1, 1);
    }

    @Test
    void whatIsThereStaysWhereItIs() {
        List<MigPlace> there = List.of(new MigPlace(profile("1g.10gb"), 5));

        assertThat(LAYOUTS.place(there, profiles("4g.40gb")).orElseThrow()).hasToString("[4g.40gb@0]");
        assertThat(LAYOUTS.place(there, profiles("3g.40gb")).orElseThrow()).hasToString("[3g.40gb@0]");
        assertThat(LAYOUTS.place(there, profiles("3g.40gb", "3g.40gb"))).isEmpty();
    }

    @Test
    void remainingCapacityCountsOneProfileAtATime() {
        List<MigPlace> three = List.of(new MigPlace(profile("3g.40gb"), 4));

        assertThat(LAYOUTS.remaining(List.of(), profile("1g.10gb"))).isEqualTo(7);
        assertThat(LAYOUTS.remaining(three, profile("1g.10gb"))).isEqualTo(4);
        assertThat(LAYOUTS.remaining(three, profile("3g.40gb"))).isEqualTo(1);
        assertThat(LAYOUTS.remaining(three, profile("7g.80gb"))).isZero();
        List<MigPlace> firstHalf = List.of(new MigPlace(profile("3g.40gb"), 0));
        assertThat(LAYOUTS.remaining(firstHalf, profile("1g.10gb")))
                .as("a 3g at 0 wastes a slice")
                .isEqualTo(3);
    }

    @Test
    void aLayoutThatOverlapsIsIllegal() {
        MigPlace four = new MigPlace(profile("4g.40gb"), 0);
        MigPlace two = new MigPlace(profile("2g.20gb"), 2);

        assertThat(LAYOUTS.isLegal(List.of(four, two))).isFalse();
        assertThat(LAYOUTS.isLegal(List.of(two))).isTrue();
        assertThatThrownBy(() -> LAYOUTS.place(List.of(four, two), List.of()))
                .hasMessage("A100-80GB cannot be cut into [4g.40gb@0, 2g.20gb@2]");
        assertThatThrownBy(() -> new MigPlace(profile("2g.20gb"), 3))
                .hasMessage("a 2g.20gb instance must start at one of [0, 2, 4], but was to start at 3");
    }
}

package io.lendstream.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PairedRunsTest {
    @Test
    void comparesTheMediansOfTimes() {
        BenchReport report = PairedRuns.compared(
                Map.of("plan_p50_ms", List.of(10.0, 50.0, 12.0), "plan_worth", List.of(1.0)),
                Map.of("plan_p50_ms", List.of(12.6, 12.0, 9.0), "plan_worth", List.of(2.0)),
                "");

        assertThat(report.metrics()).containsExactly(Map.entry("plan_p50_ms", 12.0));
        assertThat(report.reference()).containsExactly(Map.entry("plan_p50_ms", 12.0));
        assertThat(report.ratio().get("plan_p50_ms")).isCloseTo(1, within(1e-9));
        assertThat(report.misses()).isEmpty();
    }

    @Test
    void aMedianMoreThanATwentiethSlowerIsAMiss() {
        Map<String, List<Double>> before = Map.of("plan_p50_ms", List.of(100.0));

        assertThat(PairedRuns.compared(before, Map.of("plan_p50_ms", List.of(105.0)), "")
                        .misses())
                .isEmpty();
        assertThat(PairedRuns.compared(before, Map.of("plan_p50_ms", List.of(106.0)), "")
                        .misses())
                .containsExactly("the ratio of plan_p50_ms is 1.060, but must be at most 1.05");
    }

    @Test
    void onlyNamedTimesOfBothTreesAreCompared() {
        BenchReport report = PairedRuns.compared(
                Map.of("plan_p50_ms", List.of(1.0), "plan_p99_ms", List.of(1.0)),
                Map.of("plan_p50_ms", List.of(1.0), "plan_p99_ms", List.of(2.0), "new_p50_ms", List.of(3.0)),
                "p50");

        assertThat(report.metrics()).containsOnlyKeys("plan_p50_ms");
        assertThat(report.misses()).isEmpty();
    }

    @Test
    void aComparisonOfNothingIsAMiss() {
        assertThat(PairedRuns.compared(Map.of(), Map.of("plan_p50_ms", List.of(1.0)), "")
                        .misses())
                .hasSize(1);
    }

    @Test
    void readsTheFiguresOfTheLastLine() {
        assertThat(PairedRuns.metrics("a table\n{\"name\":\"plan\",\"metrics\":{\"a_ms\":1.5,\"b\":2}}\n"))
                .contains(Map.of("a_ms", 1.5, "b", 2.0));
        assertThat(PairedRuns.metrics("a table\n")).isEmpty();
        assertThat(PairedRuns.metrics("")).isEmpty();
    }

    @Test
    void knowsItsOptions() {
        assertThat(PairedRuns.parse(List.of("/base", "plan"))).isPresent();
        assertThat(PairedRuns.parse(List.of("--pairs", "3", "--only", "p50", "/base", "replay", "1")))
                .isPresent();
        assertThat(PairedRuns.parse(List.of("--pairs", "none", "/base", "plan")))
                .isEmpty();
        assertThat(PairedRuns.parse(List.of("/base"))).isEmpty();
        assertThat(PairedRuns.parse(List.of("/base", "pairs", "/base", "plan"))).isEmpty();
        assertThat(PairedRuns.parse(List.of())).isEmpty();
    }
}

package io.lendstream.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class StatedBoundsTest {
    private static final Map<String, Double> BOUND = Map.of("p99_ms", 250.0);

    @Test
    void aFigureAtItsBoundIsKept() {
        assertThat(StatedBounds.above(Map.of("p99_ms", 250.0), BOUND)).isEmpty();
        assertThat(StatedBounds.below(Map.of("p99_ms", 250.0), BOUND)).isEmpty();
    }

    @Test
    void aFigureBeyondItsBoundIsNamedWithIt() {
        assertThat(StatedBounds.above(Map.of("p99_ms", 250.5), BOUND))
                .containsExactly("p99_ms is 250.500, but must be at most 250.000");
        assertThat(StatedBounds.below(Map.of("p99_ms", 249.5), BOUND))
                .containsExactly("p99_ms is 249.500, but must be at least 250.000");
    }

    @Test
    void aFigureThatIsNoNumberMissesItsBound() {
        assertThat(StatedBounds.above(Map.of("p99_ms", Double.NaN), BOUND)).hasSize(1);
        assertThat(StatedBounds.below(Map.of("p99_ms", Double.NaN), BOUND)).hasSize(1);
    }

    @Test
    void whatWasNotMeasuredIsHeldToNoBound() {
        assertThat(StatedBounds.above(Map.of("p50_ms", 300.0), BOUND)).isEmpty();
    }
}

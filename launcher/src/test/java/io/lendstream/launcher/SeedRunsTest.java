package io.lendstream.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.launcher.cli.UserError;
import io.lendstream.simulator.report.SeedFailure;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SeedRunsTest {
    @Test
    void aSeedThatFailsDoesNotEndTheOthers() {
        SeedRuns<String> runs = SeedRuns.play(List.of(3L, 4L, 5L), 2, seed -> {
            if (seed == 4) {
                throw new IllegalStateException("a job never ends.");
            }
            return "run " + seed;
        });

        assertThat(runs.done()).containsExactly(Map.entry(3L, "run 3"), Map.entry(5L, "run 5"));
        assertThat(runs.failures()).containsExactly(new SeedFailure(4, "a job never ends"));
        assertThat(runs.failures().get(0).line()).isEqualTo("seed 4 failed: a job never ends");
    }

    @Test
    void theFailureOfAllSeedsIsTheirCommonOne() {
        UserError missing = UserError.badUsage("--workload is 'x', but there is none.");

        assertThatThrownBy(() -> SeedRuns.play(List.of(1L, 2L), 2, seed -> {
                    throw missing;
                }))
                .isSameAs(missing);
    }

    @Test
    void differentFailuresOfAllSeedsAreAllNamed() {
        assertThatThrownBy(() -> SeedRuns.play(List.of(1L, 2L), 2, seed -> {
                    throw new IllegalStateException("cause %d".formatted(seed));
                }))
                .isInstanceOf(UserError.class)
                .hasMessage("seed 1 failed: cause 1; seed 2 failed: cause 2");
    }
}

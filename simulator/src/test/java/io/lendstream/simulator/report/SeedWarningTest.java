package io.lendstream.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SeedWarningTest {
    @Test
    void theSameWarningOfSeveralSeedsIsOneLine() {
        List<RunWarning> grouped = SeedWarning.grouped(
                List.of(
                        warning(2, "deepboot, lending on", "slo-alarm", "98.1 %"),
                        warning(3, "deepboot, lending on", "slo-alarm", "97.5 %")),
                3);

        assertThat(grouped).extracting(RunWarning::line).containsExactly("ALARM: seed 2 and 1 more of 3: 98.1 %");
    }

    @Test
    void anotherRunOrAnotherWarningHasItsOwnLine() {
        List<RunWarning> grouped = SeedWarning.grouped(
                List.of(
                        warning(1, "deepboot, lending on", "slo-alarm", "98.1 %"),
                        warning(1, "tiresias, lending on", "slo-alarm", "97.5 %"),
                        warning(2, "", "demand-beyond-gpus", "30 GPUs")),
                2);

        assertThat(grouped)
                .extracting(RunWarning::text)
                .containsExactly("only seed 1 of 2: 98.1 %", "only seed 1 of 2: 97.5 %", "only seed 2 of 2: 30 GPUs");
    }

    @Test
    void oneSeedNeedsNoName() {
        assertThat(SeedWarning.grouped(List.of(warning(4, "", "slo-alarm", "98.1 %")), 1))
                .extracting(RunWarning::text)
                .containsExactly("98.1 %");
    }

    private static SeedWarning warning(long seed, String subject, String code, String text) {
        return new SeedWarning(seed, subject, new RunWarning(RunWarning.Level.ALARM, code, text));
    }
}

package io.lendstream.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.simulator.report.ReportedRun.Inference;
import io.lendstream.simulator.report.ReportedRun.Training;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SeedFiguresTest {
    @Test
    void anAverageIsOfAllJobsOrUnknown() {
        SeedFigures whole = SeedFigures.of(1, run(2, 100, 200), Optional.empty(), Optional.empty());
        SeedFigures part = SeedFigures.of(2, run(3, 100, 200), Optional.empty(), Optional.empty());

        assertThat(whole.jctSeconds()).contains(150.0);
        assertThat(whole.isUnfinished()).isFalse();
        assertThat(part.jctSeconds()).isEmpty();
        assertThat(part.isUnfinished()).isTrue();
        assertThat(part.jobs()).isEqualTo(3);
        assertThat(part.completedJobs()).isEqualTo(2);
    }

    private static ReportedRun run(int jobs, double... seconds) {
        List<Double> completions = Arrays.stream(seconds).boxed().toList();
        return ReportedRun.ofFigures(
                "run",
                true,
                new Training(jobs, completions.size(), completions, Optional.empty(), Optional.empty()),
                new Inference(0, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty()),
                true);
    }
}

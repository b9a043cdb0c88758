package io.lendstream.actuator.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class StepReportTest {
    @Test
    void aReportIsWhatTheWorkerSays() {
        assertThat(StepReport.of(
                        MembershipFixture.json("{'step': 7, 'progress': 3.5, 'totalProgress': 10, 'replicas': 2,"
                                + " 'localBatch': 8, 'accumulation': 3, 'stepSeconds': 0.5, 'syncSeconds': 0.1,"
                                + " 'gradientSquared': 1.5, 'gradientVariance': 2.5}")))
                .isEqualTo(new StepReport(7, 3.5, 10, 2, 8, 3, 0.5, 0.1, Optional.of(1.5), Optional.of(2.5)));
    }

    @Test
    void gradientStatisticsMayBeMissing() {
        StepReport report = StepReport.of(MembershipFixture.json("{'step': 1, 'gradientSquared': null}"));

        assertThat(report.gradientSquared()).isEmpty();
        assertThat(report.gradientVariance()).isEmpty();
    }
}

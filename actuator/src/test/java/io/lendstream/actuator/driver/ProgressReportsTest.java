package io.lendstream.actuator.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.actuator.jobs.StepReport;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProgressReportsTest {
    private static final JobId JOB = new JobId("job");
    private static final KindId T4 = new KindId("Tesla-T4-16GB");
    private static final DomainId DOMAIN = new DomainId("d");
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");

    private final ProgressReports reports = new ProgressReports();

    private static StepReport report(double total, double stepSeconds) {
        return new StepReport(7, 3.5, total, 2, 8, 3, stepSeconds, 0.1, Optional.of(1.5), Optional.empty());
    }

    @Test
    void aRunningJobReportsItsLastStep() {
        assertThat(reports.running(JOB, DOMAIN, report(10, 0.5), 1, Optional.of(T4), NOW))
                .isEqualTo(new TrainingProgress(
                        JOB,
                        DOMAIN,
                        NOW,
                        JobPhase.RUNNING,
                        3.5,
                        Optional.of(10.0),
                        new TrainingProgress.Parallelism(1, 2, 8, 2),
                        new TrainingProgress.StepTiming(Optional.of(0.5), Optional.of(0.1)),
                        new TrainingProgress.GradientStatistics(Optional.of(1.5), Optional.empty()),
                        Optional.of(T4)));
    }

    @Test
    void whatAJobDoesNotKnowIsLeftOut() {
        TrainingProgress progress = reports.running(JOB, DOMAIN, report(0, 0), 1, Optional.empty(), NOW);

        assertThat(progress.totalProgress()).isEmpty();
        assertThat(progress.timing().stepSeconds()).isEmpty();
    }

    @Test
    void aJobThatIsOverKeepsItsProgressAndComputesNoMore() {
        reports.running(JOB, DOMAIN, report(10, 0.5), 1, Optional.of(T4), NOW);

        TrainingProgress over = reports.over(JOB, DOMAIN, JobPhase.FINISHED, NOW);

        assertThat(over.phase()).isEqualTo(JobPhase.FINISHED);
        assertThat(over.progress()).isEqualTo(3.5);
        assertThat(over.totalProgress()).contains(10.0);
        assertThat(over.parallelism().replicas()).isZero();
        assertThat(over.kind()).isEmpty();
        assertThat(reports.over(JOB, DOMAIN, JobPhase.FAILED, NOW).progress())
                .as("it is forgotten")
                .isZero();
    }
}

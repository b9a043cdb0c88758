package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.JobId;
import io.lendstream.launcher.cli.UserError;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class EndedJobsTest {
    private static final JobId BERT = new JobId("bert");
    private static final Instant END = Instant.parse("2026-03-01T12:00:00Z");

    private final EndedJobs ended = new EndedJobs(Set.of(BERT));

    private static TrainingProgress report(JobId job, JobPhase phase) {
        return new TrainingProgress(
                job,
                Scenario.DOMAIN,
                END,
                phase,
                0,
                Optional.empty(),
                TrainingProgress.Parallelism.NONE,
                TrainingProgress.StepTiming.NOT_MEASURED,
                TrainingProgress.GradientStatistics.NOT_MEASURED);
    }

    @Test
    void aNameThatHasJustEndedIsRefusedUntilItIsForgotten() {
        ended.take(report(BERT, JobPhase.FINISHED));

        assertThatThrownBy(() -> ended.refuse("--name", BERT))
                .isInstanceOf(UserError.class)
                .hasMessage(
                        "--name is bert, but a job of this name ended at 2026-03-01T12:00:00Z, and the scheduler knows it until 2026-03-02T12:00:00Z. Choose another name, or wait until then.");
    }

    @Test
    void aNameThatHasNotEndedMayBeUsed() {
        ended.take(report(BERT, JobPhase.RUNNING));
        ended.take(report(new JobId("gpt"), JobPhase.CANCELLED));

        assertThatCode(() -> ended.refuse("--name", BERT)).doesNotThrowAnyException();
        assertThat(ended.against(new JobId("gpt"))).as("not asked for").isEmpty();
    }
}

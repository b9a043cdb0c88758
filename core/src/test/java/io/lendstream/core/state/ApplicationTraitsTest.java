package io.lendstream.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.FitRule;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.KindSpeed;
import io.lendstream.core.goodput.LearnedSpeed;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What an ended job leaves to its application. */
class ApplicationTraitsTest {
    private static final KindId A100 = new KindId("A100-SXM4-80GB");
    private static final KindId L4 = new KindId("L4-24GB");
    private static final Instant NOW = Scenario.START.plusSeconds(3600);

    private final Scenario story = Scenario.of("deepboot");

    private JobState unprofiled(String name) {
        TrainingJob declared = story.jobRecord(name, 8, true);
        return JobState.of(
                declared.with(new TrainingJob.Traits(
                        declared.traits().batch(), GoodputProfile.UNKNOWN, RescaleCosts.UNMEASURED)),
                1);
    }

    private static TrainingProgress step(String job, KindId kind, int gpus, double seconds) {
        return new TrainingProgress(
                new JobId(job),
                Scenario.DOMAIN,
                Scenario.START.plusSeconds(gpus),
                JobPhase.RUNNING,
                1,
                Optional.empty(),
                new TrainingProgress.Parallelism(1, gpus, 64, 0),
                new TrainingProgress.StepTiming(Optional.of(seconds), Optional.of(0.01)),
                TrainingProgress.GradientStatistics.NOT_MEASURED,
                Optional.of(kind));
    }

    @Test
    void aJobLeavesItsSpeedOnEachKindWithoutTheSteps() {
        JobState job = unprofiled("first")
                .observed(step("first", A100, 1, 0.2), 7, FitRule.COARSE)
                .observed(step("first", A100, 2, 0.15), 8, FitRule.COARSE)
                .observed(step("first", L4, 1, 1.1), 9, FitRule.COARSE);

        ApplicationTraits taught = ApplicationTraits.of(job, NOW).orElseThrow();

        assertThat(taught.application()).isEqualTo("vision");
        assertThat(taught.job()).isEqualTo(new JobId("first"));
        assertThat(taught.measured()).isEqualTo(2);
        assertThat(taught.lastEvent()).isEqualTo(9);
        assertThat(taught.measuredAt()).isEqualTo(Scenario.START.plusSeconds(1));
        assertThat(taught.usedAt()).isEqualTo(NOW);
        assertThat(taught.learned().speed())
                .isEqualTo(LearnedSpeed.declared(job.learned().speed().parameters()));
        assertThat(taught.learned().speedKind()).contains(A100);
        assertThat(taught.learned().byKind())
                .containsExactly(new KindSpeed(
                        L4,
                        LearnedSpeed.declared(
                                job.learned().byKind().get(0).speed().parameters())));
    }

    @Test
    void aJobOfUnknownSpeedLeavesNothing() {
        JobState job = ApplicationPrior.given(unprofiled("first"), Optional.empty());

        assertThat(job.isSpeedUnknown()).isTrue();
        assertThat(ApplicationTraits.of(job, NOW)).isEmpty();
    }

    @Test
    void moreMeasuredStepsAreBetterAndThenTheLaterJob() {
        JobState first = unprofiled("first").observed(step("first", A100, 1, 0.2), 7, FitRule.COARSE);
        ApplicationTraits one = ApplicationTraits.of(first, NOW).orElseThrow();
        ApplicationTraits two = ApplicationTraits.of(
                        first.observed(step("first", A100, 2, 0.15), 8, FitRule.COARSE), NOW)
                .orElseThrow();
        ApplicationTraits later = ApplicationTraits.of(
                        unprofiled("other").observed(step("other", A100, 1, 0.2), 20, FitRule.COARSE), NOW)
                .orElseThrow();

        assertThat(two.isBetterThan(later)).isTrue();
        assertThat(later.isBetterThan(two)).isFalse();
        assertThat(later.isBetterThan(one)).isTrue();
        assertThat(one.isBetterThan(later)).isFalse();
    }
}

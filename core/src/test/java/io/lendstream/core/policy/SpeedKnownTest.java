package io.lendstream.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Policies see whether a job's speed is only a usual one. */
class SpeedKnownTest {
    private final Scenario story = new Scenario(
                    new Scheduler(Policies.parse("lendstream"), SchedulerSettings.DEFAULTS.withLearn(true)))
            .node("train", Pool.TRAINING, 4);

    private boolean isSpeedKnown(String job, boolean learns) {
        return new ScheduledJob(story.job(job), story.now(), 4, true, ScheduledJob.Kinds.ALIKE, learns).isSpeedKnown();
    }

    private TrainingJob unprofiled(String name) {
        TrainingJob known = story.jobRecord(name, 4, true);
        return known.with(
                new TrainingJob.Traits(known.traits().batch(), GoodputProfile.UNKNOWN, RescaleCosts.UNMEASURED));
    }

    @Test
    void aDeclaredSpeedIsKnown() {
        story.tell(story.jobRecord("a", 4, true));

        assertThat(isSpeedKnown("a", true)).isTrue();
    }

    @Test
    void aUsualSpeedIsNotKnownUntilTheFirstStep() {
        story.tell(unprofiled("a")).settled();
        assertThat(isSpeedKnown("a", true)).isFalse();

        story.tell(new TrainingProgress(
                new JobId("a"),
                Scenario.DOMAIN,
                story.now(),
                JobPhase.RUNNING,
                1,
                Optional.empty(),
                new TrainingProgress.Parallelism(1, 1, 128, 0),
                new TrainingProgress.StepTiming(Optional.of(0.5), Optional.of(0.0)),
                TrainingProgress.GradientStatistics.NOT_MEASURED));
        assertThat(isSpeedKnown("a", true)).isTrue();
    }

    @Test
    void whereNothingIsLearnedWhatIsDeclaredCounts() {
        story.tell(unprofiled("a"));

        assertThat(isSpeedKnown("a", false)).isTrue();
    }
}

package io.lendstream.core.state;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Jobs without a profile start with what earlier jobs of their application were found to be. */
class ApplicationPriorTest {
    private static final ThroughputParameters TRUE =
            new ThroughputParameters(0.01, 0.001, 0.05, 0.001, 0.02, 0.0005, 1.5);

    private final Scenario story = story(true);

    private static Scenario story(boolean learns) {
        return story("deepboot", learns);
    }

    private static Scenario story(String policy, boolean learns) {
        return new Scenario(new Scheduler(Policies.parse(policy), SchedulerSettings.DEFAULTS.withLearn(learns)))
                .node("train", Pool.TRAINING, 8);
    }

    private static TrainingJob unprofiled(Scenario story, String name) {
        TrainingJob known = story.jobRecord(name, 8, true);
        return known.with(
                new TrainingJob.Traits(known.traits().batch(), GoodputProfile.UNKNOWN, RescaleCosts.UNMEASURED));
    }

    private static TrainingProgress step(Scenario story, String name, int gpus, int localBatch) {
        return step(story, name, gpus, localBatch, TRUE.stepSeconds(1, gpus, localBatch));
    }

    private static TrainingProgress step(Scenario story, String name, int gpus, int localBatch, double seconds) {
        double network = gpus == 1 ? 0 : TRUE.networkSeconds(1, gpus);
        return new TrainingProgress(
                new JobId(name),
                Scenario.DOMAIN,
                story.now(),
                JobPhase.RUNNING,
                story.job(name).progress() + 1,
                Optional.empty(),
                new TrainingProgress.Parallelism(1, gpus, localBatch, 0),
                new TrainingProgress.StepTiming(Optional.of(seconds), Optional.of(Math.min(network, seconds))),
                new TrainingProgress.GradientStatistics(Optional.of(1.0), Optional.of(500.0)));
    }

    @Test
    void theFirstJobStartsByTheNextPlanWithItsFewestGpus() {
        story.tell(unprofiled(story, "first")).after(ofSeconds(60));

        assertThat(story.job("first").gpus()).isEqualTo(1);
        assertThat(story.job("first").isSpeedUnknown()).isTrue();
    }

    @Test
    void anUnknownJobGainsFromMoreGpusByTheUsualProfile() {
        story.tell(unprofiled(story, "first"));
        var goodput = story.job("first").goodput().ofProfile();

        assertThat(goodput.on(1, 2) / goodput.on(1, 1)).isBetween(1.2, 2.0);
        assertThat(goodput.on(1, 4) / goodput.on(1, 2)).isBetween(1.0, 2.0);
    }

    @Test
    void theFirstStepSetsTheScaleOfTheUsualProfile() {
        story.tell(unprofiled(story, "first")).settled().tell(step(story, "first", 1, 128));

        JobState first = story.job("first");
        assertThat(first.isSpeedUnknown()).isFalse();
        assertThat(first.learned().speed().parameters().stepSeconds(1, 1, 128))
                .isCloseTo(TRUE.stepSeconds(1, 1, 128), org.assertj.core.data.Percentage.withPercentage(1));
        assertThat(first.learned().speed().declared().networkSeconds(1, 2))
                .as("the network is as much faster as the step")
                .isLessThan(0.05);
    }

    /** Its first step sets the scale; the one on 4 GPUs takes a tenth longer than expected from that. */
    @Test
    void lendstreamFitsJobsWithoutAProfileFinelyWhereSpeedsAreLearned() {
        assertThat(isFittedAnew(story("lendstream", true), false)).isTrue();
        assertThat(isFittedAnew(story("lendstream", true), true)).isFalse();
        assertThat(isFittedAnew(story("lendstream", false), false)).isFalse();
        assertThat(isFittedAnew(story("deepboot", true), false)).isFalse();
    }

    private static boolean isFittedAnew(Scenario story, boolean profiled) {
        story.tell(profiled ? story.jobRecord("first", 8, true) : unprofiled(story, "first"))
                .settled()
                .tell(step(story, "first", 1, 128));
        ThroughputParameters before = story.job("first").learned().speed().parameters();
        story.tell(step(story, "first", 4, 128, 1.1 * before.stepSeconds(1, 4, 128)));
        return !story.job("first").learned().speed().parameters().equals(before);
    }

    @Test
    void theNextJobOfTheApplicationStartsWithItsFitNoiseAndCosts() {
        story.tell(unprofiled(story, "first"))
                .settled()
                .tell(step(story, "first", 1, 128))
                .tell(step(story, "first", 4, 64));
        story.tell(unprofiled(story, "second"));

        LearnedTraits first = story.job("first").learned();
        LearnedTraits second = story.job("second").learned();
        assertThat(second.speed().declared()).isEqualTo(first.speed().parameters());
        assertThat(second.speed().measured()).isEmpty();
        assertThat(second.noise()).isEqualTo(new GradientNoise(1, 500));
        assertThat(second.costs()).isEqualTo(first.costs());
        assertThat(story.job("second").isSpeedUnknown()).isFalse();
    }

    @Test
    void jobsOfOtherApplicationsDoNotCount() {
        TrainingJob other = story.jobRecord("first", 8, true);
        story.tell(other).settled().tell(step(story, "first", 1, 128));
        TrainingJob mine = unprofiled(story, "second");
        story.tell(new TrainingJob(
                mine.job(),
                mine.domain(),
                mine.submittedAt(),
                "another",
                mine.scaling(),
                mine.precedence(),
                mine.traits(),
                mine.driver(),
                Optional.empty()));

        assertThat(story.job("second").isSpeedUnknown()).isTrue();
    }

    @Test
    void whatTheOwnerDeclaresStays() {
        story.tell(unprofiled(story, "first")).settled().tell(step(story, "first", 1, 128));
        TrainingJob declared = story.jobRecord("second", 8, true);
        story.tell(declared);
        assertThat(story.job("second").learned()).isEqualTo(LearnedTraits.declared(declared));

        TrainingJob.Traits costly = new TrainingJob.Traits(
                declared.traits().batch(), GoodputProfile.UNKNOWN, new RescaleCosts(ofSeconds(70), ofSeconds(7)));
        story.tell(unprofiled(story, "third").with(costly));
        assertThat(story.job("third").costs()).isEqualTo(costly.costs());
    }

    @Test
    void aJobThatLosesItsProfileIsGivenAnotherOne() {
        story.tell(story.jobRecord("first", 8, true)).tell(unprofiled(story, "first"));

        assertThat(story.job("first").learned().speed().declared()).isNotEqualTo(ThroughputParameters.UNKNOWN);
    }

    @Test
    void nothingIsGivenUnlessTheSettingIsOn() {
        Scenario plain = story(false);
        plain.tell(plain.jobRecord("first", 8, true)).settled().tell(step(plain, "first", 1, 128));
        TrainingJob second = unprofiled(plain, "second");
        plain.tell(second);

        assertThat(plain.job("second").learned()).isEqualTo(LearnedTraits.declared(second));
    }

    @Test
    void aHardDeadlineIsNotRefusedByAnUnknownSpeed() {
        TrainingJob due = unprofiled(story, "first").due(story.now().plusSeconds(600), DeadlineKind.HARD);
        story.tell(due)
                .tell(new TrainingProgress(
                        new JobId("first"),
                        Scenario.DOMAIN,
                        story.now(),
                        JobPhase.QUEUED,
                        0,
                        Optional.of(1e9),
                        TrainingProgress.Parallelism.NONE,
                        TrainingProgress.StepTiming.NOT_MEASURED,
                        TrainingProgress.GradientStatistics.NOT_MEASURED))
                .after(ofSeconds(60));

        assertThat(story.job("first").admission().map(Admission::admitted)).contains(true);
        assertThat(story.job("first").isRefused()).isFalse();
        assertThat(story.job("first").gpus()).isPositive();
    }
}

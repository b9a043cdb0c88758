package io.lendstream.core.scheduler;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofHours;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.LearnedSpeed;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ApplicationTraits;
import io.lendstream.core.state.Applications;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.LearnedTraits;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What jobs taught outlives them: a nightly job starts with the traits of the night before. */
class ApplicationMemoryTest {
    private static final Duration REMEMBERED = ofDays(90);
    private static final ThroughputParameters TRUE =
            new ThroughputParameters(0.01, 0.001, 0.05, 0.001, 0.02, 0.0005, 1.5);

    private Scenario story = story(true, REMEMBERED);

    private static Scenario story(boolean learns, Duration remembered) {
        return new Scenario(scheduler(learns, remembered));
    }

    private static Scheduler scheduler(boolean learns, Duration remembered) {
        return new Scheduler(
                Policies.parse("deepboot"),
                SchedulerSettings.DEFAULTS.withMeasurements(new MeasurementRules(learns, remembered, false)));
    }

    private TrainingJob of(String application, String name) {
        TrainingJob known = story.jobRecord(name, 8, true);
        return new TrainingJob(
                known.job(),
                known.domain(),
                known.submittedAt(),
                application,
                known.scaling(),
                known.precedence(),
                new TrainingJob.Traits(known.traits().batch(), GoodputProfile.UNKNOWN, RescaleCosts.UNMEASURED),
                known.driver(),
                Optional.empty());
    }

    private void step(String name, int gpus, double slower) {
        double network = gpus == 1 ? 0 : TRUE.networkSeconds(1, gpus) * slower;
        story.tell(new TrainingProgress(
                new JobId(name),
                Scenario.DOMAIN,
                story.now(),
                JobPhase.RUNNING,
                story.job(name).progress() + 1,
                Optional.empty(),
                new TrainingProgress.Parallelism(1, gpus, 64, 0),
                new TrainingProgress.StepTiming(
                        Optional.of(TRUE.stepSeconds(1, gpus, 64) * slower), Optional.of(network)),
                new TrainingProgress.GradientStatistics(Optional.of(1.0), Optional.of(500.0))));
    }

    private void end(String name, JobPhase phase) {
        story.tell(new TrainingProgress(
                new JobId(name),
                Scenario.DOMAIN,
                story.now(),
                phase,
                story.job(name).progress(),
                Optional.empty(),
                TrainingProgress.Parallelism.NONE,
                TrainingProgress.StepTiming.NOT_MEASURED,
                TrainingProgress.GradientStatistics.NOT_MEASURED));
    }

    /** A job that measures steps on 1, 2, ... GPUs, and ends. */
    private LearnedTraits run(String application, String name, int steps, double slower) {
        story.tell(of(application, name));
        for (int gpus = 1; gpus <= steps; gpus++) {
            step(name, gpus, slower);
        }
        LearnedTraits learned = story.job(name).learned();
        end(name, JobPhase.FINISHED);
        return learned;
    }

    private void pass(Duration time) {
        story.withoutTicks(time).tell(new Tick(Scenario.DOMAIN, story.now()));
    }

    private LearnedTraits declared(String name) {
        story.tell(of("vision", name));
        return story.job(name).learned();
    }

    private Optional<ApplicationTraits> kept() {
        return story.state().entities().applications().find("vision");
    }

    private static void assertTaught(LearnedTraits next, LearnedTraits before) {
        assertThat(next.speed()).isEqualTo(LearnedSpeed.declared(before.speed().parameters()));
        assertThat(next.noise()).isEqualTo(before.noise());
        assertThat(next.costs()).isEqualTo(before.costs());
    }

    /** The applications that a store has which follows the changes of each step. */
    private void assertStored(Scheduler scheduler) {
        Set<String> stored = new TreeSet<>();
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : story.log()) {
            Step step = scheduler.step(state, event);
            state = step.state();
            for (String name : step.changed().applications()) {
                stored.remove(name);
                state.entities().applications().find(name).ifPresent(kept -> stored.add(name));
            }
        }
        Applications kept = story.state().entities().applications();
        assertThat(kept.byName().stream().map(ApplicationTraits::application)).containsExactlyElementsOf(stored);
        assertThat(kept.byUse().stream()).containsExactlyInAnyOrderElementsOf(stored);
    }

    @Test
    void aNightlyJobStartsWithTheTraitsOfTheNightBefore() {
        LearnedTraits first = run("vision", "monday", 3, 1);
        assertThat(first.noise()).isEqualTo(new GradientNoise(1, 500));
        pass(ofHours(25));
        assertThat(story.state().jobs().contains(new JobId("monday"))).isFalse();

        assertTaught(declared("tuesday"), first);

        assertThat(story.job("tuesday").isSpeedUnknown()).isFalse();
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void nothingIsKeptUnlessBothSettingsAreOn() {
        for (Scenario plain : new Scenario[] {story(true, Duration.ZERO), story(false, REMEMBERED)}) {
            story = plain;
            run("vision", "monday", 3, 1);
            pass(ofHours(25));

            assertThat(kept()).isEmpty();
            assertThat(story.state().jobs().contains(new JobId("monday"))).isFalse();
        }
    }

    @Test
    void aJobInTheStateComesFirst() {
        run("vision", "monday", 3, 1);
        pass(ofHours(25));
        LearnedTraits second = run("vision", "tuesday", 1, 3);

        assertTaught(declared("wednesday"), second);
    }

    @Test
    void otherApplicationsDoNotCount() {
        run("speech", "monday", 3, 1);
        pass(ofHours(25));

        declared("tuesday");

        assertThat(story.job("tuesday").isSpeedUnknown()).isTrue();
    }

    @Test
    void aJobOfUnknownSpeedLeavesWhatIsKept() {
        run("vision", "monday", 3, 1);
        pass(ofHours(25));
        ApplicationTraits before = kept().orElseThrow();
        story.tell(of("speech", "stranger"));
        end("stranger", JobPhase.CANCELLED);
        pass(ofHours(25));

        assertThat(kept()).contains(before);
        assertThat(story.state().entities().applications().size()).isEqualTo(1);
    }

    @Test
    void theJobWithMoreMeasuredStepsStaysAndIsInUse() {
        run("vision", "monday", 3, 1);
        pass(ofHours(25));
        run("vision", "tuesday", 2, 3);
        pass(ofHours(25));

        assertThat(kept().orElseThrow().job()).isEqualTo(new JobId("monday"));
        assertThat(kept().orElseThrow().usedAt()).isEqualTo(story.now());

        run("vision", "wednesday", 3, 3);
        pass(ofHours(25));
        assertThat(kept().orElseThrow().job()).isEqualTo(new JobId("wednesday"));
    }

    @Test
    void whatWasMeasuredTooLongAgoGivesWayToLess() {
        run("vision", "first", 3, 1);
        pass(ofHours(25));
        pass(ofDays(60));
        declared("second");
        end("second", JobPhase.CANCELLED);
        pass(ofDays(40));
        assertThat(kept().orElseThrow().job())
                .as("it was measured too long ago")
                .isEqualTo(new JobId("second"));
        run("vision", "third", 1, 3);
        pass(ofHours(25));

        assertThat(kept().orElseThrow().job()).isEqualTo(new JobId("third"));
    }

    @Test
    void whatIsNotUsedForLongIsForgotten() {
        run("vision", "monday", 3, 1);
        pass(ofHours(25));
        pass(REMEMBERED.minusMillis(1));
        assertThat(kept()).isPresent();

        pass(Duration.ofMillis(1));

        assertThat(kept()).isEmpty();
        assertStored(scheduler(true, REMEMBERED));
        declared("late");
        assertThat(story.job("late").isSpeedUnknown()).isTrue();
    }

    @Test
    void aJobThatStartsWithItIsAUse() {
        run("vision", "monday", 3, 1);
        pass(ofHours(25));
        pass(REMEMBERED.minusHours(1));
        declared("weeks-later");
        pass(ofHours(2));

        assertThat(kept()).isPresent();
    }

    @Test
    void itIsNotGivenAfterItsTimeEvenIfNoTickCame() {
        run("vision", "monday", 3, 1);
        pass(ofHours(25));
        story.withoutTicks(REMEMBERED);

        declared("late");

        assertThat(story.job("late").isSpeedUnknown()).isTrue();
    }

    @Test
    void theThousandLastUsedApplicationsAreKept() {
        for (int i = 0; i < ApplicationMemory.MOST; i++) {
            run("app-" + i, "job-" + i, 1, 1);
            story.withoutTicks(Duration.ofSeconds(1));
        }
        pass(ofHours(25));
        assertThat(story.state().entities().applications().size()).isEqualTo(ApplicationMemory.MOST);
        pass(Duration.ofSeconds(1));
        story.tell(of("app-0", "again"));

        run("vision", "monday", 1, 1);
        pass(ofHours(25));

        assertThat(story.state().entities().applications().size()).isEqualTo(ApplicationMemory.MOST);
        assertThat(kept()).isPresent();
        assertThat(story.state().entities().applications().find("app-0")).isPresent();
        assertThat(story.state().entities().applications().find("app-1")).isEmpty();
        assertStored(scheduler(true, REMEMBERED));
    }

    @Test
    void aDomainMayDeclareThatNothingIsKept() {
        run("vision", "monday", 3, 1);
        pass(ofHours(25));

        story.tell(new DomainSettings(Scenario.DOMAIN, story.now(), Map.of("remember-profiles", "PT0S")));

        assertThat(kept()).isEmpty();
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aStartWithoutTheSettingForgetsAll() {
        run("vision", "monday", 3, 1);
        pass(ofHours(25));

        story.takenOverBy(scheduler(true, Duration.ZERO));

        assertThat(kept()).isEmpty();
    }
}

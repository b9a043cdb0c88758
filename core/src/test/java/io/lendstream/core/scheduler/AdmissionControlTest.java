package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.policy.Deadline;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.catalogue.Policies;
import java.util.List;
import java.util.Optional;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Jobs with hard deadlines, and jobs that can never run, get an answer. A job here needs 24,000 samples and 10 s to
 * start; n GPUs train 10 n samples/s, so that it takes 10 s + 2400 s / n. Plans are made every minute.
 */
class AdmissionControlTest extends AdmissionFixture {
    @Test
    void theSameJobIsAdmittedRefusedAndAdmittedAgainAfterANodeJoins() {
        Scenario story = planned(work(hard(training(4), "a", 1360), "a"));

        assertThat(answers(story)).hasSize(1);
        assertThat(answers(story).get(0).action())
                .isEqualTo(new Action.Hold(Optional.of(new JobId("a")), Optional.empty()));
        assertThat(lastAnswer(story))
                .isEqualTo(
                        "a is admitted: with 2 GPUs it ends by its deadline 2026-01-01 00:22:40 UTC; jobs with hard deadlines then need 2 of 4 training GPUs");
        assertThat(lastNumbers(story))
                .containsEntry("admitted", 1.0)
                .containsEntry("inTime", 1.0)
                .containsEntry("needed", 2.0)
                .containsEntry("share", 2.0)
                .containsEntry("own", 4.0)
                .containsEntry("promised", 0.0)
                .containsEntry("secondsLeft", 1300.0);
        assertThat(lastNumbers(story).get("secondsNeeded")).isCloseTo(1210.0, Offset.offset(0.001));

        planned(hard(story, "a", 640));

        assertThat(story.job("a").isRefused()).isTrue();
        assertThat(lastAnswer(story))
                .isEqualTo(
                        "a is refused: it cannot end by its deadline 2026-01-01 00:10:40 UTC: with 4 GPUs it takes 610 s, and 520 s are left");
        assertThat(lastNumbers(story)).containsEntry("admitted", 0.0).containsEntry("secondsLeft", 520.0);

        planned(story.node("more", Pool.TRAINING, 4));

        assertThat(answers(story)).hasSize(3);
        assertThat(lastAnswer(story))
                .isEqualTo(
                        "a is admitted: with 6 GPUs it ends by its deadline 2026-01-01 00:10:40 UTC; jobs with hard deadlines then need 6 of 8 training GPUs");
        assertThat(story.job("a").gpus()).isEqualTo(8);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void anAnswerIsGivenOnce() {
        Scenario story = planned(work(hard(training(4), "a", 200), "a"));
        assertThat(story.job("a").isRefused()).isTrue();

        story.after(ofMinutes(10)).settled();
        work(story, "a").after(ofMinutes(5)).settled();

        assertThat(answers(story)).hasSize(1);
    }

    @Test
    void aJobWithoutKnownWorkIsAdmittedAndAnsweredAgainOnceItIsKnown() {
        Scenario story = planned(hard(training(4), "a", 200));

        assertThat(lastAnswer(story))
                .isEqualTo(
                        "a is admitted: its total work is not known, so it may end before or after its deadline 2026-01-01 00:03:20 UTC, and no GPUs are reserved for it");
        assertThat(lastNumbers(story)).containsEntry("admitted", 1.0).doesNotContainKey("share");

        planned(work(story, "a"));

        assertThat(answers(story)).hasSize(2);
        assertThat(lastAnswer(story)).startsWith("a is refused: it cannot end by its deadline");
    }

    @Test
    void sharesOfAdmittedJobsAreLeftForThem() {
        Scenario story = work(hard(training(4), "a", 1360), "a");
        hard(story, "b", 960);
        planned(work(story, "b"));

        assertThat(answers(story))
                .extracting(decision -> decision.reason().text().substring(0, 13))
                .as("the earliest deadline first")
                .containsExactly("b is admitted", "a is refused:");
        assertThat(lastAnswer(story))
                .isEqualTo(
                        "a is refused: it needs 2 GPUs to end by its deadline 2026-01-01 00:22:40 UTC, and admitted jobs with hard deadlines need 3 of 4 training GPUs");
        assertThat(lastNumbers(story)).containsEntry("needed", 2.0).containsEntry("promised", 3.0);

        planned(story.progress("b", JobPhase.CANCELLED));

        assertThat(lastAnswer(story)).startsWith("a is admitted: with 2 GPUs");
    }

    @Test
    void loansDoNotCount() {
        Scenario story = Scenario.of("tiresias").node("train", Pool.TRAINING, 1).node("infer", Pool.INFERENCE, 8);

        planned(work(hard(story, "a", 1360), "a"));

        assertThat(lastAnswer(story)).contains("with 1 GPU it takes 2410 s, and 1300 s are left");
    }

    @Test
    void aNodeThatIsGoneDoesNotCount() {
        Scenario story = training(4).node("more", Pool.TRAINING, 4);
        story.tell(new NodeLeft(new NodeId("more"), Scenario.DOMAIN, story.now()));

        planned(work(hard(story, "a", 640), "a"));

        assertThat(lastNumbers(story)).containsEntry("admitted", 0.0).containsEntry("own", 4.0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"deepboot", "lendstream", "pollux", "tiresias", "afs", "optimus", "lyra", "clairvoyant"})
    void aRefusedJobIsNotPlannedUnderAnyPolicy(String policy) {
        Scenario story = Scenario.of(policy).node("train", Pool.TRAINING, 4);
        work(hard(story, "a", 200), "a").tell(linear("b", 4, true));

        work(story, "b");
        for (int minute = 0; minute < 5; minute++) {
            planned(story);
        }

        assertThat(story.job("a").isRefused()).isTrue();
        assertThat(story.job("a").usage().largestRun()).isZero();
        assertThat(story.decisions())
                .filteredOn(decision -> decision.action().jobChange().isPresent())
                .isNotEmpty()
                .allSatisfy(decision -> assertThat(decision.action().target()).isEqualTo("b"));
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aDomainWithRefusedJobsOnlyRests() {
        Scenario story = planned(work(hard(training(4), "a", 200), "a"));

        story.after(ofMinutes(30));

        assertThat(story.last()).isEmpty();
        assertThat(story.state().clusterIndex().jobs().open().isEmpty()).isTrue();
    }

    @Test
    void aSoftDeadlineChangesNoDecision() {
        Scenario with = training(4);
        Scenario without = training(4);
        for (int gpus : List.of(2, 4, 9)) {
            TrainingJob job = linear("job-" + gpus, gpus, false);
            with.tell(job.due(at(60), DeadlineKind.SOFT));
            without.tell(job);
        }

        planned(planned(with));
        planned(planned(without));

        assertThat(with.decisions()).isNotEmpty().isEqualTo(without.decisions());
    }

    @Test
    void aJobThatHasGpusIsNotRefused() {
        Scenario story = Scenario.of("deepboot").node("train", Pool.TRAINING, 4);
        work(story.tell(linear("a", 4, true)), "a");
        planned(story);
        int gpus = story.job("a").gpus();
        assertThat(gpus).isPositive();

        hard(story, "a", 130).after(ofSeconds(60));

        assertThat(lastAnswer(story))
                .startsWith("a is admitted because it already has GPUs, but it cannot end by its deadline");
        assertThat(lastNumbers(story)).containsEntry("admitted", 1.0).containsEntry("inTime", 0.0);
        assertThat(story.job("a").gpus()).isGreaterThanOrEqualTo(gpus);
    }

    @Test
    void aJobThatItsQueueCanNeverHoldIsRefusedUntilItsQuotaIsRaised() {
        Scenario story = planned(training(4).queue("team-a", 2).rigidJob("a", 3, "team-a"));

        assertThat(lastAnswer(story))
                .isEqualTo(
                        "a is refused: it needs 3 GPUs at once, and queue team-a may use at most 2 GPUs, with all that it can borrow");
        assertThat(answers(story).get(0).action())
                .isEqualTo(new Action.Hold(
                        Optional.of(new JobId("a")), Optional.empty(), Optional.of(new QueueId("team-a"))));
        work(story, "a").after(ofMinutes(5));
        assertThat(answers(story)).hasSize(1);

        planned(story.queue("team-a", 3));

        assertThat(lastAnswer(story)).isEqualTo("a is admitted: it needs 3 GPUs at once and can get up to 3");
        assertThat(story.job("a").gpus()).isEqualTo(3);
    }

    @Test
    void whatAQueueMayBorrowCounts() {
        Scenario story = training(4)
                .queue("team-a", Optional.of("all"), KindQuota.of(Optional.empty(), 1))
                .queue("team-b", Optional.of("all"), KindQuota.of(Optional.empty(), 2));

        planned(story.rigidJob("a", 3, "team-a").rigidJob("b", 4, "team-b"));

        assertThat(answers(story)).hasSize(1);
        assertThat(lastAnswer(story)).startsWith("b is refused: it needs 4 GPUs at once, and queue team-b may use");
        assertThat(story.job("a").gpus()).isEqualTo(3);
    }

    @Test
    void onlyJobsOfQueuesAreRefusedForTheirSize() {
        Scenario story = planned(
                training(4).queue("team-a", 9).rigidJob("a", 6, "team-a").rigidJob("b", 6));

        assertThat(answers(story)).hasSize(1);
        assertThat(lastAnswer(story))
                .isEqualTo("a is refused: it needs 6 GPUs at once, and the domain has only 4 GPUs for it");
    }

    @Test
    void policiesSeeDeadlinesAndShares() {
        Scenario story = planned(work(hard(training(4), "a", 1360), "a"));
        StepBuilder step =
                new StepBuilder(story.state(), story.log().get(story.log().size() - 1), StepListener.NONE);

        List<JobView> jobs =
                new TrainingView(step, SchedulerSettings.DEFAULTS).view().jobs();

        assertThat(jobs)
                .extracting(JobView::deadline)
                .containsExactly(Optional.of(new Deadline(at(1360), DeadlineKind.HARD, 2)));
    }

    @Test
    void noAnswerIsGivenWhileNothingMayBeChanged() {
        Scenario story = work(hard(training(4), "a", 200), "a").control(ControlCommand.Kind.FREEZE);

        planned(story);

        assertThat(answers(story)).isEmpty();
        planned(story.control(ControlCommand.Kind.THAW));
        assertThat(answers(story)).hasSize(1);
    }

    @Test
    void sharesAreKeptWhenKindsAreToldApart() {
        Scenario story = planned(work(hard(training(4), "a", 700), "a"));
        assertThat(story.job("a").admission().orElseThrow().share()).isEqualTo(4);

        story.takenOverBy(
                new Scheduler(Policies.parse("tiresias"), SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS)));
        planned(planned(work(hard(story, "b", 100_000), "b")));

        assertThat(lastAnswer(story))
                .startsWith("b is refused:")
                .contains("admitted jobs with hard deadlines need 4 of 4 training GPUs");
    }

    @Test
    void aJobOfAnUndeclaredQueueIsNotRefused() {
        Scenario story = planned(training(4).queue("team-a", 9).rigidJob("a", 6, "team-b"));

        assertThat(answers(story)).isEmpty();
        assertThat(story.job("a").isRefused()).isFalse();
    }
}

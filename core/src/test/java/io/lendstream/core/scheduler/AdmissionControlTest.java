package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.KindTraits;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.policy.Deadline;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.catalogue.Policies;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Jobs with hard deadlines, and jobs that can never run, get an answer. A job here needs 24,000 samples and 10 s to
 * start; n GPUs train 10 n samples/s, so that it takes 10 s + 2400 s / n. Plans are made every minute.
 */
class AdmissionControlTest {
    private static final double WORK = 1000;

    /** Under {@code tiresias} an elastic job waits for all 8 GPUs that it asks for. */
    private static Scenario training(int gpus) {
        return Scenario.of("tiresias").node("train", Pool.TRAINING, gpus);
    }

    private static TrainingJob linear(String name, int gpus, boolean elastic) {
        return new TrainingJob(
                new JobId(name),
                Scenario.DOMAIN,
                Scenario.START,
                "linear",
                new TrainingJob.Scaling(gpus, 1, gpus, elastic),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(24, 24, 1, 24, Optional.of(24)),
                        new GoodputProfile(new ThroughputParameters(0, 0.1, 0, 0, 0, 0, 1), new GradientNoise(1, 1000)),
                        new RescaleCosts(Duration.ofSeconds(10), Duration.ofSeconds(1))),
                "simulated",
                Optional.empty());
    }

    private static Instant at(int seconds) {
        return Scenario.START.plusSeconds(seconds);
    }

    private static Scenario hard(Scenario story, String name, int deadline) {
        return story.tell(linear(name, 8, true).due(at(deadline), DeadlineKind.HARD));
    }

    /** What a job reports when it is submitted. */
    private static Scenario work(Scenario story, String name) {
        return story.tell(new TrainingProgress(
                new JobId(name),
                Scenario.DOMAIN,
                story.now(),
                JobPhase.QUEUED,
                0,
                Optional.of(WORK),
                TrainingProgress.Parallelism.NONE,
                TrainingProgress.StepTiming.NOT_MEASURED,
                TrainingProgress.GradientStatistics.NOT_MEASURED));
    }

    private static Scenario planned(Scenario story) {
        return story.after(ofSeconds(60)).settled();
    }

    private static List<Decision> answers(Scenario story) {
        return story.decisions().stream()
                .filter(decision -> decision.reason().is(ReasonCode.ADMISSION))
                .toList();
    }

    private static String lastAnswer(Scenario story) {
        return answers(story).get(answers(story).size() - 1).reason().text();
    }

    private static Map<String, Double> lastNumbers(Scenario story) {
        return answers(story).get(answers(story).size() - 1).reason().numbers();
    }

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
    void theKindWithTheFewestGpusCounts() {
        KindId big = new KindId("A100-SXM4-80GB");
        Scenario story = new Scenario(new Scheduler(
                        Policies.parse("tiresias"), SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS)))
                .node("old", Pool.TRAINING, 4, "Tesla T4", 16)
                .node("new", Pool.TRAINING, 4, "NVIDIA A100-SXM4-80GB");
        KindNeeds needs = new KindNeeds(
                List.of(),
                Optional.of(new KindId("Tesla-T4-16GB")),
                Optional.empty(),
                List.of(KindTraits.of(big, new KindRatio(2, 0))));

        planned(work(
                story.tell(linear("a", 8, true).due(at(1360), DeadlineKind.HARD).onKinds(needs)), "a"));

        assertThat(lastAnswer(story))
                .isEqualTo(
                        "a is admitted: with 1 GPU of kind A100-SXM4-80GB it ends by its deadline 2026-01-01 00:22:40 UTC; jobs with hard deadlines then need 1 of 4 training GPUs of kind A100-SXM4-80GB");
        assertThat(story.job("a").admission().orElseThrow().kind()).contains(big);
    }

    @Test
    void theShareIsANumberOfGpusThatTheShapeAllows() {
        Scenario story = training(8);
        story.tell(linear("a", 8, true).due(at(1360), DeadlineKind.HARD).shaped(JobShape.multiples(4)));

        planned(work(story, "a"));

        assertThat(lastNumbers(story)).containsEntry("admitted", 1.0).containsEntry("share", 4.0);
    }

    @Test
    void aShapeThatNeedsMoreThanTheDomainHasIsRefused() {
        Scenario story = training(4);
        story.tell(linear("a", 8, true).due(at(1360), DeadlineKind.HARD).shaped(JobShape.multiples(8)));

        planned(work(story, "a"));

        assertThat(lastAnswer(story))
                .isEqualTo("a is refused: it needs 8 GPUs at once, and the domain has only 4 GPUs for it");
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
    void policiesSeeTheDeadlineOfAJobInAShapeThatStaysOnOneNode() {
        Scenario story = training(4).actuator("one", Abilities.USUAL.withSpansNodes(false));
        story.tell(linear("a", 8, true).due(at(1360), DeadlineKind.HARD).shaped(JobShape.multiples(2)));
        planned(work(story, "a"));
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
    void theShareIsANumberThatTheShapeAllows() {
        TrainingJob job = linear("a", 8, true).due(at(1360), DeadlineKind.HARD).shaped(JobShape.multiples(4));

        Scenario story = planned(work(training(4).tell(job), "a"));

        assertThat(lastAnswer(story))
                .isEqualTo(
                        "a is admitted: with 4 GPUs it ends by its deadline 2026-01-01 00:22:40 UTC; jobs with hard deadlines then need 4 of 4 training GPUs");
        assertThat(story.job("a").admission().orElseThrow().share()).isEqualTo(4);
    }

    @Test
    void aNumberThatTheShapeForbidsMeetsNoDeadline() {
        TrainingJob job = linear("a", 8, true).due(at(700), DeadlineKind.HARD).shaped(JobShape.multiples(3));

        Scenario story = planned(work(training(4).tell(job), "a"));

        assertThat(lastAnswer(story)).endsWith("with 3 GPUs it takes 810 s, and 640 s are left");
        assertThat(story.job("a").isRefused()).isTrue();
        assertThat(story.state().clusterIndex().jobs().shaped().isEmpty())
                .as("no plan looks at the shape of a refused job")
                .isTrue();
    }

    @Test
    void aJobOfAQueueThatNoNodesFitIsRefusedUntilSomeDo() {
        Scenario story = new Scenario(new Scheduler(
                        Policies.parse("tiresias"),
                        SchedulerSettings.DEFAULTS.withModel(ClusterModel.ALIKE.with(TopologyLabels.of("", "rack")))))
                .node("train-a", Pool.TRAINING, 2)
                .rack("train-a", "r1")
                .node("train-b", Pool.TRAINING, 2)
                .rack("train-b", "r2")
                .queue("team-a", 4);
        TrainingJob job = linear("a", 4, false).shaped(JobShape.ANY.within(TopologyLevel.RACK, true));

        planned(story.tell(job.in(new QueueId("team-a"))));

        assertThat(lastAnswer(story))
                .isEqualTo("a is refused: it needs 4 GPUs in one rack, and no rack has more than 2 for it");
        assertThat(lastNumbers(story)).containsEntry("needed", 4.0).containsEntry("largest", 2.0);

        planned(story.rack("train-b", "r1"));

        assertThat(lastAnswer(story)).isEqualTo("a is admitted: it needs 4 GPUs at once and can get up to 4");
        assertThat(story.job("a").gpus()).isEqualTo(4);
    }

    @Test
    void aRequiredDomainThatIsTooSmallIsAnsweredWithoutAQueueToo() {
        Scenario story = training(2)
                .node("more", Pool.TRAINING, 2)
                .tell(linear("a", 4, false).shaped(JobShape.ANY.within(TopologyLevel.NODE, true)))
                .tell(linear("b", 4, false).shaped(JobShape.ANY.within(TopologyLevel.NODE, false)));

        planned(story);

        assertThat(answers(story)).hasSize(1);
        assertThat(lastAnswer(story))
                .isEqualTo("a is refused: it needs 4 GPUs in one node, and no node has more than 2 for it");
        assertThat(story.job("a").isRefused()).isTrue();
        assertThat(story.job("b").gpus()).isEqualTo(4);

        planned(story.node("large", Pool.TRAINING, 4));

        assertThat(lastAnswer(story)).isEqualTo("a is admitted: it needs 4 GPUs at once and can get up to 8");
        assertThat(story.job("a").gpus()).isEqualTo(4);
    }

    @Test
    void aJobCannotCountOnSeveralNodesThatNoActuatorJoins() {
        Scenario story = training(4)
                .node("more", Pool.TRAINING, 4)
                .actuator("one", Abilities.USUAL.withSpansNodes(false))
                .tell(linear("a", 8, false).due(at(1360), DeadlineKind.HARD));

        planned(work(story, "a"));

        assertThat(lastAnswer(story))
                .endsWith(
                        "it needs at least 8 GPUs, and can count on 4 of 8 training GPUs, as no actuator runs one job on several nodes");
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
    void policiesSeeTheDeadlineOfAJobInItsShape() {
        TrainingJob job = linear("a", 8, true).due(at(1360), DeadlineKind.HARD).shaped(JobShape.multiples(2));
        Scenario story = training(4)
                .node("more", Pool.TRAINING, 4)
                .actuator("one", Abilities.USUAL.withSpansNodes(false))
                .tell(job);
        StepBuilder step =
                new StepBuilder(story.state(), story.log().get(story.log().size() - 1), StepListener.NONE);

        List<JobView> jobs =
                new TrainingView(step, SchedulerSettings.DEFAULTS).view().jobs();

        assertThat(jobs)
                .extracting(JobView::deadline)
                .containsExactly(Optional.of(new Deadline(at(1360), DeadlineKind.HARD, 0)));
    }

    @Test
    void aRefusedJobThatIsDescribedInAnotherWayIsAnswered() {
        Scenario story = planned(training(4).queue("team-a", 2).rigidJob("a", 3, "team-a"));
        assertThat(lastAnswer(story)).startsWith("a is refused:");

        story.rigidJob("a", 2, "team-a");

        assertThat(story.job("a").isRefused()).as("until the next plan").isTrue();
        planned(story);
        assertThat(answers(story)).hasSize(2);
        assertThat(lastAnswer(story)).isEqualTo("a is admitted: it needs 2 GPUs at once and can get up to 2");
        assertThat(story.job("a").gpus()).isEqualTo(2);
    }

    @Test
    void aJobThatIsRefusedInItsNewFormTooIsAnsweredOnceMore() {
        Scenario story = planned(work(hard(training(4), "a", 200), "a"));

        planned(planned(planned(hard(story, "a", 400))));

        assertThat(answers(story)).hasSize(2);
        assertThat(lastAnswer(story)).startsWith("a is refused: it cannot end by its deadline 2026-01-01 00:06:40 UTC");
    }

    @Test
    void aRefusedJobWithoutItsDeadlineIsAdmitted() {
        Scenario story = planned(work(hard(training(4), "a", 200), "a"));

        planned(story.tell(linear("a", 8, true)));

        assertThat(lastAnswer(story))
                .isEqualTo("a is admitted: it has no hard deadline, declared queue or required topology any more");
        assertThat(story.job("a").isRefused()).isFalse();
    }

    @Test
    void aJobOfAnUndeclaredQueueIsNotRefused() {
        Scenario story = planned(training(4).queue("team-a", 9).rigidJob("a", 6, "team-b"));

        assertThat(answers(story)).isEmpty();
        assertThat(story.job("a").isRefused()).isFalse();
    }

    @Test
    void anApprovalOfGpusEndsARefusal() {
        Scenario story = planned(training(4).queue("team-a", 2).rigidJob("a", 3, "team-a"));
        story.control(ControlCommand.Kind.ADVISORY_ON).queue("team-a", 3).after(ofSeconds(60));
        assertThat(story.job("a").isRefused()).as("advice changes no state").isTrue();
        Decision advice = story.decisions().stream()
                .filter(decision ->
                        decision.advisory() && decision.action().jobChange().isPresent())
                .findFirst()
                .orElseThrow();

        story.approve(advice.id()).settled();

        assertThat(story.job("a").gpus()).isEqualTo(3);
        assertThat(story.job("a").isRefused()).isFalse();
        assertThat(story.state().clusterIndex().jobs().open().size()).isEqualTo(1);
    }

    @Test
    void aShareIsLeftForOthersOnceItsDeadlineHasPassed() {
        Scenario story = planned(work(hard(training(4), "a", 700), "a"));
        planned(work(hard(story, "b", 100_000), "b"));
        assertThat(lastAnswer(story)).startsWith("b is refused:").contains("need 4 of 4 training GPUs");

        story.after(ofMinutes(75)).settled();

        assertThat(story.job("a").isOver()).isFalse();
        assertThat(lastAnswer(story)).startsWith("b is admitted: with 1 GPU");
    }

    private static Scenario leaves(Scenario story, String node) {
        return story.tell(new NodeLeft(new NodeId(node), Scenario.DOMAIN, story.now()));
    }

    @Test
    void anAdmissionIsWithdrawnIfTheGpusThatItCountsOnLeave() {
        Scenario story = training(1).node("more", Pool.TRAINING, 1);
        planned(work(hard(story, "a", 1360), "a"));
        assertThat(lastAnswer(story)).startsWith("a is admitted: with 2 GPUs");

        planned(leaves(story, "more"));

        assertThat(story.job("a").isRefused()).isTrue();
        assertThat(lastAnswer(story))
                .isEqualTo("GPUs have left that admitted jobs count on: a is refused: it cannot end by its deadline"
                        + " 2026-01-01 00:22:40 UTC: with 1 GPU it takes 2410 s, and 1240 s are left");
        planned(planned(story));
        assertThat(answers(story)).hasSize(2);
        planned(story.node("more", Pool.TRAINING, 4));
        assertThat(lastAnswer(story)).startsWith("a is admitted: with 3 GPUs");
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void theJobWithTheLatestDeadlineLosesItsShareWhenANodeLeaves() {
        Scenario story = training(4).node("more", Pool.TRAINING, 2);
        work(hard(story, "a", 1360), "a");
        planned(work(hard(story, "b", 960), "b"));
        assertThat(answers(story))
                .extracting(answer -> answer.reason().numbers().get("share"))
                .containsExactly(3.0, 2.0);

        planned(leaves(story, "more"));

        assertThat(answers(story)).hasSize(3);
        assertThat(story.job("b").isRefused()).isFalse();
        assertThat(lastAnswer(story))
                .isEqualTo(
                        "GPUs have left that admitted jobs count on: a is refused: it needs 2 GPUs to end by its"
                                + " deadline 2026-01-01 00:22:40 UTC, and admitted jobs with hard deadlines need 3 of 4 training GPUs");
    }

    @Test
    void anAdmissionStaysIfEnoughGpusAreLeft() {
        Scenario story = training(4).node("more", Pool.TRAINING, 4);
        planned(work(hard(story, "a", 1360), "a"));

        planned(leaves(story, "more"));

        assertThat(answers(story)).hasSize(1);
        assertThat(story.job("a").admission().orElseThrow().share()).isEqualTo(2);
    }

    @Test
    void aRunningJobGoesOnWithoutItsShareIfGpusLeave() {
        Scenario story = Scenario.of("deepboot").node("train", Pool.TRAINING, 1).node("more", Pool.TRAINING, 1);
        planned(planned(work(hard(story, "a", 1360), "a")));
        assertThat(story.job("a").gpus()).isPositive();

        String other = story.owner("more-g0").isFree() ? "more" : "train";
        planned(leaves(story, other));

        assertThat(lastAnswer(story))
                .startsWith("GPUs have left that admitted jobs count on: a is admitted because it already has GPUs,"
                        + " but it cannot end by its deadline");
        assertThat(story.job("a").admission().orElseThrow().share()).isZero();
    }
}

package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindTraits;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.policy.Deadline;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.catalogue.Policies;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Answers to jobs that do not run on each number of GPUs, or not on all nodes. */
class AdmissionShapesTest extends AdmissionFixture {
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
}

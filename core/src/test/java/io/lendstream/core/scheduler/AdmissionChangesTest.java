package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Answers that change: the job is described in another way, or GPUs leave. */
class AdmissionChangesTest extends AdmissionFixture {
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

    /** Of 4 GPUs, a job of {@code team-a} has all, and 2 are the nominal quota of {@code team-b}. */
    private static Scenario borrowed() {
        Scenario story = training(4);
        for (String queue : List.of("team-a", "team-b")) {
            story.queue(queue, Optional.of("all"), KindQuota.of(Optional.empty(), 2));
        }
        planned(story.rigidJob("a", 4, "team-a"));
        assertThat(story.job("a").gpus()).isEqualTo(4);
        return story;
    }

    private static Scenario ofTeamB(Scenario story, int deadline) {
        return story.tell(linear("b", 2, false).in(new QueueId("team-b")).due(at(deadline), DeadlineKind.HARD));
    }

    private static List<Decision> takenBack(Scenario story) {
        return story.decisions().stream()
                .filter(decision -> decision.reason().is(ReasonCode.QUOTA)
                        && decision.action().jobChange().isPresent())
                .toList();
    }

    @Test
    void anAdmittedJobClaimsNominalQuotaInTheStepOfItsAnswer() {
        Scenario story = work(ofTeamB(borrowed(), 100_000), "b");
        assertThat(takenBack(story)).as("before the answer").isEmpty();

        story.after(ofSeconds(60));

        assertThat(lastAnswer(story)).startsWith("b is admitted: with 2 GPUs");
        assertThat(takenBack(story))
                .extracting(Decision::at)
                .containsExactly(answers(story).get(0).at());
        assertThat(story.settled().job("b").gpus()).isEqualTo(2);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aRefusedJobThatIsAdmittedClaimsInTheStepOfItsAnswer() {
        Scenario story = planned(work(ofTeamB(borrowed(), 200), "b"));
        assertThat(lastAnswer(story)).startsWith("b is refused:");

        ofTeamB(story, 100_000).after(ofSeconds(60));

        assertThat(lastAnswer(story)).startsWith("b is admitted: with 2 GPUs");
        assertThat(takenBack(story))
                .extracting(Decision::at)
                .containsExactly(answers(story).get(1).at());
    }
}

package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Gangs: the GPUs that a decision gives to such a job are in use when all of them are bound, or are given back. */
class GangGainsTest {
    private static final Tenant GANG = new Tenant.Job(new JobId("a"));

    /** A gang that is about to get its first GPUs. */
    private static Scenario starting(Scenario story, int gpus, boolean elastic) {
        story.tell(story.jobRecord("a", gpus, elastic).shaped(JobShape.ANY.together()));
        for (int i = 0; i < 60 && story.job("a").gpus() == 0; i++) {
            story.after(ofSeconds(5));
        }
        assertThat(story.job("a").gpus()).isPositive();
        return story;
    }

    /** Two nodes with two GPUs each; the policy gives elastic jobs all that are free. */
    private static Scenario twoNodes() {
        return Scenario.of("afs").node("train-a", Pool.TRAINING, 2).node("train-b", Pool.TRAINING, 2);
    }

    private static Scenario twoActuators() {
        return twoNodes().actuator("one", Abilities.USUAL, "train-a").actuator("two", Abilities.USUAL, "train-b");
    }

    private static List<GpuId> gpus(String... names) {
        return Stream.of(names).map(GpuId::new).toList();
    }

    private static Decision last(Scenario story) {
        return story.decisions().stream()
                .filter(decision -> decision.action().jobChange().isPresent())
                .reduce((older, newer) -> newer)
                .orElseThrow();
    }

    private static List<GpuId> given(Decision decision) {
        return decision.action().jobChange().orElseThrow().allocation().gpus();
    }

    private static void report(Scenario story, Outcome outcome, String... gpus) {
        story.tell(story.report(last(story).id(), outcome, gpus(gpus), Optional.of(GANG)));
    }

    private static GpuState gpu(Scenario story, String name) {
        return story.state().gpus().require(new GpuId(name));
    }

    private static void assertSound(Scenario story) {
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aGangTrainsOnceAllItsGpusAreBound() {
        Scenario story = starting(Scenario.of("deepboot").node("train", Pool.TRAINING, 2), 2, false);
        Decision start = last(story);
        assertThat(gpu(story, "train-g0").part()).contains(GroupPart.ofGang(start.id(), 2));

        report(story, Outcome.BOUND, "train-g0");
        assertThat(gpu(story, "train-g0").isHere()).isTrue();
        assertThat(gpu(story, "train-g1").isHere()).isFalse();
        assertThat(story.count("binding")).isEqualTo(2);
        report(story, Outcome.BOUND, "train-g0");
        assertThat(story.count("training")).isZero();
        report(story, Outcome.BOUND, "train-g1");

        assertThat(story.count("training")).isEqualTo(2);
        assertThat(gpu(story, "train-g0").part()).isEmpty();
        assertSound(story);
    }

    @Test
    void anotherJobTrainsOnEachGpuThatIsBound() {
        Scenario story = Scenario.of("deepboot").node("train", Pool.TRAINING, 2).rigidJob("a", 2);
        for (int i = 0; i < 60 && story.job("a").gpus() == 0; i++) {
            story.after(ofSeconds(5));
        }
        assertThat(gpu(story, "train-g0").part()).isEmpty();

        report(story, Outcome.BOUND, "train-g0");

        assertThat(story.count("training")).isEqualTo(1);
        assertThat(story.count("binding")).isEqualTo(1);
        assertSound(story);
    }

    @Test
    void aGangThatIsNotWholeByItsDeadlineIsUndone() {
        Scenario story = starting(Scenario.of("deepboot").node("train", Pool.TRAINING, 2), 2, false);
        report(story, Outcome.BOUND, "train-g0");

        story.after(ofSeconds(60));

        assertThat(given(last(story))).isEmpty();
        assertThat(last(story).reason().is(ReasonCode.TIMEOUT)).isTrue();
        assertThat(last(story).reason().text())
                .isEqualTo("a gives 2 GPUs back and waits: no actuator reported 1 GPU as bound within 60 s,"
                        + " and a gang gets its GPUs together");
        assertThat(story.count("releasing")).isEqualTo(2);
        assertThat(gpu(story, "train-g0").failedBinds()).isZero();
        assertThat(gpu(story, "train-g1").failedBinds()).isEqualTo(1);
        assertSound(story);
    }

    @Test
    void aGpuThatIsMissingTwiceInARowIsQuarantined() {
        Scenario story = starting(Scenario.of("deepboot").node("train", Pool.TRAINING, 2), 2, false);
        for (int i = 0; i < 2; i++) {
            report(story, Outcome.BOUND, "train-g0");
            story.after(ofSeconds(60)).settled();
            for (int wait = 0; wait < 60 && i == 0 && story.job("a").gpus() == 0; wait++) {
                story.after(ofSeconds(5));
            }
        }

        assertThat(gpu(story, "train-g1").owner().asQuarantined().orElseThrow().reason())
                .isEqualTo("job a did not start on it, twice in a row");
        assertThat(gpu(story, "train-g0").isFree()).isTrue();
        assertSound(story);
    }

    @Test
    void oneOfTwoActuatorsFailsAndNothingStays() {
        Scenario story = starting(twoActuators(), 4, false);

        report(story, Outcome.BOUND, "train-a-g0", "train-a-g1");
        assertThat(story.count("training")).isZero();
        report(story, Outcome.FAILED, "train-b-g0", "train-b-g1");

        assertThat(story.lastKinds()).containsExactly("resize");
        assertThat(given(last(story))).isEmpty();
        assertThat(last(story).reason().is(ReasonCode.LOST)).isTrue();
        assertThat(last(story).reason().text())
                .isEqualTo("a lost 2 GPUs (train-b-g0, train-b-g1) and waits: it cannot run on the rest;"
                        + " a gang gets its GPUs together");
        assertThat(story.count("releasing")).isEqualTo(2);
        assertThat(gpu(story, "train-a-g0").failedBinds()).isZero();
        assertThat(gpu(story, "train-b-g0").failedBinds()).isEqualTo(1);
        assertSound(story);
    }

    @Test
    void twoActuatorsStartAGangTogether() {
        Scenario story = starting(twoActuators(), 4, false);

        report(story, Outcome.BOUND, "train-b-g0", "train-b-g1");
        assertThat(story.count("binding")).isEqualTo(4);
        report(story, Outcome.BOUND, "train-a-g0", "train-a-g1");

        assertThat(story.count("training")).isEqualTo(4);
        assertSound(story);
    }

    /** An elastic job could run on what is left, but not without a decision, and not on a part of a start. */
    @Test
    void anElasticGangDoesNotStartOnAPartEither() {
        Scenario story = starting(twoNodes(), 4, true);
        assertThat(given(last(story))).hasSize(4);
        report(story, Outcome.BOUND, "train-a-g0", "train-a-g1", "train-b-g0");

        report(story, Outcome.FAILED, "train-b-g1");

        assertThat(given(last(story))).isEmpty();
        assertThat(story.count("releasing")).isEqualTo(3);
        assertSound(story);
    }

    /** A gang on the GPUs of one node that is about to get those of another. */
    private static Scenario growing() {
        Scenario story = starting(Scenario.of("afs").node("train-a", Pool.TRAINING, 2), 4, true);
        report(story, Outcome.BOUND, "train-a-g0", "train-a-g1");
        report(story, Outcome.APPLIED);
        assertThat(story.count("training")).isEqualTo(2);
        story.progress("a", JobPhase.RUNNING).node("train-b", Pool.TRAINING, 2);
        for (int i = 0; i < 60 && story.job("a").gpus() == 2; i++) {
            story.after(ofSeconds(5)).progress("a", JobPhase.RUNNING);
        }
        assertThat(story.job("a").gpus()).isEqualTo(4);
        return story;
    }

    @Test
    void aGangGrowsByAllGpusOfADecisionOrByNone() {
        Scenario story = growing();
        report(story, Outcome.BOUND, "train-b-g0");
        assertThat(story.count("training")).isEqualTo(2);

        report(story, Outcome.FAILED, "train-b-g1");

        assertThat(given(last(story))).isEqualTo(gpus("train-a-g0", "train-a-g1"));
        assertThat(last(story).reason().text())
                .isEqualTo("a lost 1 GPU (train-b-g1) and goes on with 2 GPUs; a gang gets its GPUs together");
        assertThat(story.count("training")).isEqualTo(2);
        assertThat(gpu(story, "train-b-g0").owner().isReleasing()).isTrue();
        assertSound(story);
    }

    @Test
    void aGangThatHasGrownUsesAllItsGpus() {
        Scenario story = growing();

        report(story, Outcome.BOUND, "train-b-g0");
        report(story, Outcome.BOUND, "train-b-g1");

        assertThat(story.count("training")).isEqualTo(4);
        assertSound(story);
    }

    @Test
    void aLossWhileItGrowsUndoesTheGain() {
        Scenario story = growing();

        story.tell(new NodeLeft(new NodeId("train-b"), Scenario.DOMAIN, story.now()));

        assertThat(given(last(story))).isEqualTo(gpus("train-a-g0", "train-a-g1"));
        assertSound(story);
    }

    /** What it had before goes; what it is about to get is whole. */
    @Test
    void aLossOfOtherGpusLeavesTheGainWhole() {
        Scenario story = growing();

        story.tell(new NodeLeft(new NodeId("train-a"), Scenario.DOMAIN, story.now()));

        assertThat(given(last(story))).isEqualTo(gpus("train-b-g0", "train-b-g1"));
        story.settled();
        assertThat(story.count("training")).isZero();
        assertSound(story);
    }

    @Test
    void aGpuThatIsLeftBeforeTheOthersAreBoundUndoesTheGain() {
        Scenario story = starting(Scenario.of("deepboot").node("train", Pool.TRAINING, 2), 2, false);
        report(story, Outcome.BOUND, "train-g0");
        story.after(ofSeconds(1));

        report(story, Outcome.RELEASED, "train-g0");

        assertThat(given(last(story))).isEmpty();
        assertThat(gpu(story, "train-g0").isFree()).isTrue();
        assertThat(gpu(story, "train-g1").owner().isReleasing()).isTrue();
        assertSound(story);
    }

    @Test
    void aRigidGangThatLosesAGpuStopsWhole() {
        Scenario story = starting(twoNodes(), 4, false).settled();
        report(story, Outcome.BOUND, "train-a-g0", "train-a-g1", "train-b-g0", "train-b-g1");
        assertThat(story.count("training")).isEqualTo(4);

        story.sample("train-b", Optional.of(79));

        assertThat(given(last(story))).isEmpty();
        assertThat(story.count("quarantined")).isEqualTo(2);
        assertThat(story.count("releasing")).isEqualTo(2);
        assertThat(story.count("training")).isZero();
        assertSound(story);
    }

    @Test
    void anElasticGangThatLosesAGpuGoesOnWithFewerByADecision() {
        Scenario story = starting(twoNodes(), 4, true);
        report(story, Outcome.BOUND, "train-a-g0", "train-a-g1", "train-b-g0", "train-b-g1");
        assertThat(story.count("training")).isEqualTo(4);

        story.sample("train-b", Optional.of(79));

        assertThat(story.lastKinds()).contains("resize");
        assertThat(given(last(story))).isEqualTo(gpus("train-a-g0", "train-a-g1"));
        assertThat(last(story).reason().is(ReasonCode.LOST)).isTrue();
        assertThat(story.count("training")).isEqualTo(2);
        assertSound(story);
    }

    @Test
    void loansOfAGangBeginTogether() {
        Scenario story =
                Scenario.of("deepboot").node("infer", Pool.INFERENCE, 4).service("chat", 0);
        story.rate("chat", 0).settled();
        story.tell(story.jobRecord("a", 2, false).shaped(JobShape.ANY.together()));
        for (int i = 0; i < 40 && story.job("a").gpus() == 0; i++) {
            story.rate("chat", 0).after(ofSeconds(15));
        }
        assertThat(story.count("binding")).isEqualTo(2);
        List<GpuId> both = given(last(story));

        report(story, Outcome.BOUND, both.get(0).value());
        assertThat(story.count("lent")).isZero();
        report(story, Outcome.BOUND, both.get(1).value());

        assertThat(story.count("lent")).isEqualTo(2);
        assertSound(story);
    }

    @Test
    void aGangThatEndsGivesAllGpusBack() {
        Scenario story = starting(Scenario.of("deepboot").node("train", Pool.TRAINING, 2), 2, false);
        report(story, Outcome.BOUND, "train-g0");

        story.progress("a", JobPhase.CANCELLED);

        assertThat(story.count("releasing")).isEqualTo(2);
        assertSound(story);
    }
}

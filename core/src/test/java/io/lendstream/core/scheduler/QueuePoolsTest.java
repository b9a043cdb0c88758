package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.policy.catalogue.Policies;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Plans of queues whose jobs cannot use their shares: nothing changes while nothing happens. */
class QueuePoolsTest {
    private static final int PLANS = 20;

    private static void queue(Scenario story, String name, double nominal) {
        story.queue(name, Optional.of("all"), KindQuota.of(Optional.empty(), nominal));
    }

    /** How often jobs are changed in some plans without other events. */
    private static long changes(Scenario story) {
        int before = story.decisions().size();
        for (int plan = 0; plan < PLANS; plan++) {
            story.after(ofSeconds(61)).settled();
        }
        return story.decisions().stream()
                .skip(before)
                .map(Decision::action)
                .filter(action -> action.jobChange().isPresent())
                .count();
    }

    /** Each queue has half of what its job needs: one of them goes on. */
    @ParameterizedTest
    @ValueSource(strings = {"deepboot", "tiresias", "afs", "optimus", "lyra", "pollux"})
    void oneOfTwoJobsThatNeedAllGpusGoesOn(String policy) {
        Scenario story = Scenario.of(policy).node("one", Pool.TRAINING, 4).node("two", Pool.TRAINING, 4);
        queue(story, "a", 4);
        queue(story, "b", 4);
        queue(story, "c", 0);
        story.rigidJob("a1", 4, "a").settled();
        story.rigidJob("b1", 4, "b").settled();
        story.rigidJob("c1", 1, "c").settled();
        changes(story);

        story.tell(new NodeLeft(new NodeId("two"), Scenario.DOMAIN, story.now()))
                .settled();
        story.after(ofSeconds(61)).settled();

        assertThat(changes(story)).isZero();
        assertThat(story.job("a1").gpus() + story.job("b1").gpus()).isEqualTo(4);
        assertThat(story.job("c1").gpus()).isZero();
    }

    /** Neither job fits the share of its queue, and the one that runs borrows: it keeps the GPUs that it has. */
    @ParameterizedTest
    @ValueSource(strings = {"deepboot", "tiresias", "afs", "optimus", "lyra", "pollux"})
    void aJobThatBorrowsKeepsItsGpusWhileNoOtherFits(String policy) {
        Scenario story = Scenario.of(policy).node("train", Pool.TRAINING, 4);
        queue(story, "a", 1);
        queue(story, "b", 1);
        queue(story, "c", 2);
        story.rigidJob("a1", 3, "a").settled();
        story.after(ofSeconds(61)).settled();
        story.rigidJob("b1", 3, "b").settled();

        assertThat(changes(story)).isZero();
        assertThat(story.job("a1").gpus()).isEqualTo(3);
    }

    /** The policy gives a job all that it asked for, or nothing, so that it is not started with less. */
    @ParameterizedTest
    @ValueSource(strings = {"tiresias"})
    void noJobIsStartedWithFewerGpusThanThePolicyGivesIt(String policy) {
        Scenario story = Scenario.of(policy).node("train", Pool.TRAINING, 6);
        queue(story, "b", 4);
        story.rigidJob("other", 2).settled();
        story.after(ofSeconds(61)).settled();
        story.job("b1", 5, "b").settled();

        assertThat(changes(story)).isZero();
        assertThat(story.job("b1").gpus()).isZero();
    }

    /** One GPU of the first rack is in use, so that the job fits the second rack only. */
    @ParameterizedTest
    @ValueSource(strings = {"deepboot", "tiresias", "afs", "optimus", "lyra", "pollux"})
    void aJobThatBorrowsGetsGpusThatItsShapeCanUse(String policy) {
        ClusterModel racks = ClusterModel.ALIKE.with(TopologyLabels.of("", "rack"));
        Scenario story =
                new Scenario(new Scheduler(Policies.parse(policy), SchedulerSettings.DEFAULTS.withModel(racks)));
        for (int node = 0; node < 4; node++) {
            story.node("n" + node, Pool.TRAINING, 2).rack("n" + node, "r" + node / 2);
        }
        story.rigidJob("other", 1).settled();
        story.after(ofSeconds(61)).settled();
        queue(story, "a", 0);
        queue(story, "b", 0);
        queue(story, "lends", 8);
        story.tell(story.jobRecord("a1", 4, false)
                .in(new QueueId("a"))
                .shaped(JobShape.ANY.within(TopologyLevel.RACK, true)));
        for (int job = 0; job < 3; job++) {
            story.rigidJob("b" + job, 1, "b");
        }

        story.after(ofSeconds(61)).settled();

        assertThat(story.job("a1").gpus()).isEqualTo(4);
        for (int job = 0; job < 3; job++) {
            assertThat(story.job("b" + job).gpus()).isEqualTo(1);
        }
        assertThat(changes(story)).isZero();
        assertThat(story.verdict().violations()).isEmpty();
    }
}

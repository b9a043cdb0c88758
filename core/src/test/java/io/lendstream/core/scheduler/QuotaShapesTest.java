package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.HostNeed;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs whose GPUs must be near each other get the nominal quota of their queue as others do: within a notice. */
class QuotaShapesTest {
    private static final Duration PLAN = ofSeconds(61);
    private static final JobShape IN_RACK = JobShape.ANY.within(TopologyLevel.RACK, true);
    private static final JobShape ON_NODE = JobShape.ANY.within(TopologyLevel.NODE, true);

    /** Nodes of two GPUs, in two racks in turn, and two queues of a cohort with the same nominal quota. */
    private static Scenario cluster(int nodes, double nominal) {
        ClusterModel model = ClusterModel.KINDS.with(TopologyLabels.of("", "rack"));
        Scenario story =
                new Scenario(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withModel(model)));
        for (int i = 0; i < nodes; i++) {
            story.node("n" + i, Pool.TRAINING, 2).rack("n" + i, "r" + i % 2);
        }
        for (String queue : List.of("team-a", "team-b")) {
            story.queue(queue, Optional.of("all"), KindQuota.of(Optional.empty(), nominal));
        }
        return story;
    }

    private static Scenario planned(Scenario story) {
        story.settled().after(PLAN).settled();
        for (JobState job : story.state().jobs().values()) {
            if (job.gpus() > 0) {
                story.progress(job.spec().job().value(), JobPhase.RUNNING).settled();
            }
        }
        return story;
    }

    /** All GPUs are lent to jobs of one GPU. Those that started last are on different nodes. */
    private static Scenario lentOneByOne(Scenario story, int nodes) {
        for (int i = 0; i < 2 * nodes; i++) {
            story.rigidJob("b" + i, 1, "team-b").settled();
        }
        planned(planned(story));
        List<String> first = new ArrayList<>();
        Set<String> seen = new TreeSet<>();
        for (GpuState unit : story.state().gpus().values()) {
            if (seen.add(unit.nodeId().value())) {
                first.add(unit.owner().holdingJob().orElseThrow().value());
            }
        }
        first.forEach(job -> story.progress(job, JobPhase.FINISHED).settled());
        for (int i = 0; i < nodes; i++) {
            story.rigidJob("c" + i, 1, "team-b").settled();
        }
        planned(planned(story));
        assertThat(story.count("training")).isEqualTo(2L * nodes);
        return story;
    }

    private static TrainingJob asked(Scenario story, String name, int gpus, JobShape shape) {
        return story.jobRecord(name, gpus, false).shaped(shape).in(new QueueId("team-a"));
    }

    private static Set<String> nodes(Scenario story, String job) {
        Set<String> nodes = new TreeSet<>();
        for (GpuId unit : story.job(job).allocation().gpus()) {
            nodes.add(story.state().gpus().require(unit).nodeId().value());
        }
        return nodes;
    }

    private static List<String> stopped(Scenario story, String... jobs) {
        return List.of(jobs).stream().filter(job -> story.job(job).gpus() == 0).toList();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void jobsOfOneRackGiveToAJobThatRequiresARack(boolean isGang) {
        Scenario story = cluster(4, 4);
        for (int i = 0; i < 4; i++) {
            story.rigidJob("b" + i, 2, "team-b").settled();
        }
        planned(story);
        assertThat(stopped(story, "b0", "b1", "b2", "b3")).isEmpty();

        story.tell(asked(story, "a", 4, isGang ? IN_RACK.together() : IN_RACK)).settled();

        assertThat(nodes(story, "a")).containsExactly("n0", "n2");
        assertThat(stopped(story, "b0", "b1", "b2", "b3")).containsExactly("b0", "b2");
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void jobsOfWholeNodesGiveToAJobThatTakesWholeNodes() {
        Scenario story = lentOneByOne(cluster(4, 4), 4);

        story.tell(asked(story, "a", 4, JobShape.nodes())).settled();

        assertThat(story.job("a").gpus()).isEqualTo(4);
        assertThat(nodes(story, "a")).hasSize(2);
        assertThat(story.count("training")).isEqualTo(8);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void anElasticJobAsksForTheSmallestNumberThatWholeNodesGive() {
        Scenario story = lentOneByOne(cluster(4, 4), 4);

        story.tell(story.jobRecord("a", 4, true).shaped(JobShape.nodes()).in(new QueueId("team-a")))
                .settled();

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(nodes(story, "a")).hasSize(1);
    }

    @Test
    void jobsOfOneNodeGiveToAJobThatRequiresANode() {
        Scenario story = lentOneByOne(cluster(4, 4), 4);

        story.tell(asked(story, "a", 2, ON_NODE)).settled();

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(nodes(story, "a")).hasSize(1);
    }

    @Test
    void jobsOfOneNodeGiveToAJobWhoseActuatorDoesNotRunItOnSeveral() {
        Scenario story = lentOneByOne(cluster(4, 4).actuator("one", Abilities.USUAL.withSpansNodes(false)), 4);

        story.rigidJob("a", 2, "team-a").settled();

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(nodes(story, "a")).hasSize(1);
    }

    @Test
    void freeGpusOfARackAreClaimedAtOnce() {
        Scenario story = cluster(4, 4).node("n5", Pool.TRAINING, 3).rack("n5", "r2");

        story.tell(asked(story, "a", 4, IN_RACK));

        assertThat(story.job("a").target()).hasSize(4);
        assertThat(nodes(story.settled(), "a")).containsExactly("n0", "n2");
    }

    @Test
    void theRackWhoseJobsHaveTheLowestPriorityGives() {
        Scenario story = cluster(4, 4);
        for (int i = 0; i < 4; i++) {
            story.tell(story.jobRecord("b" + i, 2, false)
                            .with(new TrainingJob.Precedence(i == 2 ? 5 : 0, new QueueId("team-b"), Optional.empty())))
                    .settled();
        }
        planned(story);

        story.tell(asked(story, "a", 4, IN_RACK)).settled();

        assertThat(nodes(story, "a")).containsExactly("n1", "n3");
        assertThat(stopped(story, "b0", "b1", "b2", "b3")).containsExactly("b1", "b3");
    }

    @Test
    void theRackWhoseJobsLoseTheFewestGpusGives() {
        Scenario story = cluster(4, 4);
        for (int i = 0; i < 4; i++) {
            story.rigidJob("b" + i, 2, "team-b").settled();
        }
        planned(story).progress("b3", JobPhase.FINISHED).settled();

        story.tell(asked(story, "a", 4, IN_RACK)).settled();

        assertThat(nodes(story, "a")).containsExactly("n1", "n3");
        assertThat(stopped(story, "b0", "b1", "b2")).containsExactly("b1");
    }

    /** A job on two racks gives all its GPUs when it is stopped, so that its queue has none beyond its quota left. */
    @Test
    void aStoppedJobCountsWithAllItsGpus() {
        Scenario story = cluster(4, 4);
        story.rigidJob("b0", 4, "team-b").settled();
        planned(story.rigidJob("b1", 4, "team-b"));
        assertThat(stopped(story, "b0", "b1")).isEmpty();
        assertThat(nodes(story, "b0")).as("both racks").containsExactly("n0", "n1");

        story.tell(asked(story, "a", 4, IN_RACK)).settled();

        assertThat(stopped(story, "b0", "b1")).isEmpty();
        assertThat(story.state().promises()).isEmpty();
    }

    @Test
    void aRackWhoseNodesCannotHostTheJobGivesNothing() {
        Scenario story = cluster(4, 4).host("n0", 16, 64).host("n2", 16, 64);
        for (int i = 0; i < 4; i++) {
            story.rigidJob("b" + i, 2, "team-b").settled();
        }
        planned(story);

        story.tell(asked(story, "a", 4, IN_RACK).needing(new HostNeed(Optional.empty(), Optional.of(40L << 30))))
                .settled();

        assertThat(nodes(story, "a")).containsExactly("n1", "n3");
        assertThat(stopped(story, "b0", "b1", "b2", "b3")).containsExactly("b1", "b3");
    }

    @Test
    void nothingIsTakenIfNoRackHasEnough() {
        Scenario story = cluster(3, 4);
        for (int i = 0; i < 3; i++) {
            story.rigidJob("b" + i, 2, "team-b").settled();
        }
        planned(story.queue("team-a", Optional.of("all"), KindQuota.of(Optional.empty(), 6)));

        story.tell(asked(story, "a", 6, IN_RACK)).settled();

        assertThat(story.state().promises()).isEmpty();
        assertThat(story.job("a").gpus()).isZero();
    }
}

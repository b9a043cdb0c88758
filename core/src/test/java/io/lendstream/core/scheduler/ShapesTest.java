package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.JobState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** No job has a number of GPUs, a part of a node or several topology domains that its shape forbids. */
class ShapesTest {
    private static final SchedulerSettings RACKS =
            SchedulerSettings.DEFAULTS.withModel(ClusterModel.ALIKE.with(TopologyLabels.of("", "rack")));

    static List<Policy> policies() {
        return Policies.all();
    }

    private static Scenario story(Policy policy) {
        return new Scenario(new Scheduler(policy, RACKS));
    }

    private static Scenario story(String policy) {
        return story(Policies.parse(policy));
    }

    /** Lets jobs run for some minutes; returns the numbers of GPUs that a job had. */
    private static Set<Integer> sizes(Scenario story, String job) {
        Set<Integer> sizes = new TreeSet<>();
        for (int i = 0; i < 8; i++) {
            story.after(ofMinutes(1)).settled();
            for (JobState each : story.state().jobs().stream().toList()) {
                if (each.gpus() > 0) {
                    story.progress(each.spec().job().value(), JobPhase.RUNNING).settled();
                }
            }
            sizes.add(story.job(job).gpus());
        }
        return sizes;
    }

    private static Map<String, Long> perNode(Scenario story, String job) {
        return story.job(job).allocation().gpus().stream()
                .map(gpu -> story.state().gpus().require(gpu).nodeId().value())
                .collect(Collectors.groupingBy(node -> node, Collectors.counting()));
    }

    @ParameterizedTest
    @MethodSource("policies")
    void everyPolicyGivesMultiples(Policy policy) {
        Scenario story = story(policy)
                .node("train-a", Pool.TRAINING, 5)
                .node("train-b", Pool.TRAINING, 4)
                .job("a", 8, JobShape.multiples(3))
                .job("b", 2);

        Set<Integer> sizes = sizes(story, "a");

        assertThat(sizes).isSubsetOf(0, 3, 6).containsAnyOf(3, 6);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("policies")
    void everyPolicyGivesSizesOfAList(Policy policy) {
        Scenario story = story(policy)
                .node("train-a", Pool.TRAINING, 4)
                .node("train-b", Pool.TRAINING, 4)
                .job("a", 8, JobShape.of(List.of(2, 7)));

        Set<Integer> sizes = sizes(story, "a");

        assertThat(sizes).isSubsetOf(0, 2, 7).containsAnyOf(2, 7);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("policies")
    void everyPolicyGivesWholeNodes(Policy policy) {
        Scenario story = story(policy)
                .node("train-a", Pool.TRAINING, 2)
                .node("train-b", Pool.TRAINING, 2)
                .node("train-c", Pool.TRAINING, 2)
                .rigidJob("odd", 1)
                .job("a", 4, JobShape.nodes());

        Set<Integer> sizes = sizes(story, "a");

        assertThat(sizes).isSubsetOf(0, 2, 4).containsAnyOf(2, 4);
        assertThat(perNode(story, "a").values()).containsOnly(2L);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("policies")
    void everyPolicyStaysInARequiredRack(Policy policy) {
        Scenario story = story(policy)
                .node("train-a", Pool.TRAINING, 2)
                .rack("train-a", "r1")
                .node("train-b", Pool.TRAINING, 1)
                .rack("train-b", "r1")
                .node("train-c", Pool.TRAINING, 2)
                .rack("train-c", "r2")
                .job("a", 8, JobShape.ANY.within(TopologyLevel.RACK, true));

        Set<Integer> sizes = sizes(story, "a");

        assertThat(sizes).isSubsetOf(0, 1, 2, 3).containsAnyOf(1, 2, 3);
        Set<String> nodes = perNode(story, "a").keySet();
        assertThat(Set.of("train-a", "train-b").containsAll(nodes) || nodes.equals(Set.of("train-c")))
                .as("one rack has %s", nodes)
                .isTrue();
        assertThat(story.verdict().violations()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("policies")
    void everyPolicyUsesAPreferredRackThatIsFree(Policy policy) {
        Scenario story = story(policy)
                .node("train-a", Pool.TRAINING, 1)
                .rack("train-a", "r1")
                .node("train-b", Pool.TRAINING, 1)
                .rack("train-b", "r2")
                .node("train-c", Pool.TRAINING, 1)
                .rack("train-c", "r1");
        story.tell(story.jobRecord("a", 2, false).shaped(JobShape.ANY.within(TopologyLevel.RACK, false)));

        sizes(story, "a");

        assertThat(perNode(story, "a").keySet()).containsExactlyInAnyOrder("train-a", "train-c");
    }

    @ParameterizedTest
    @MethodSource("policies")
    void aJobThatOnlyPrefersARackIsSpreadIfNoneHoldsIt(Policy policy) {
        Scenario story = story(policy)
                .node("train-a", Pool.TRAINING, 1)
                .rack("train-a", "r1")
                .node("train-b", Pool.TRAINING, 1)
                .rack("train-b", "r2");
        story.tell(story.jobRecord("a", 2, false).shaped(JobShape.ANY.within(TopologyLevel.RACK, false)));

        sizes(story, "a");

        assertThat(story.job("a").gpus()).isEqualTo(2);
    }

    @ParameterizedTest
    @MethodSource("policies")
    void gpusThatAJobCannotUseGoToOthers(Policy policy) {
        Scenario story = story(policy)
                .node("train-a", Pool.TRAINING, 2)
                .node("train-b", Pool.TRAINING, 2)
                .rigidJob("one", 1)
                .rigidJob("other", 1);
        story.after(ofMinutes(1)).settled();
        story.tell(story.jobRecord("a", 2, false).shaped(JobShape.ANY.within(TopologyLevel.NODE, true)));
        story.rigidJob("b", 1).rigidJob("c", 1);

        sizes(story, "a");

        long used = story.state().jobs().stream().mapToInt(JobState::gpus).sum();
        assertThat(used).isEqualTo(4);
    }

    /** A job on all four GPUs of two nodes. */
    private static Scenario onFour(JobShape shape) {
        Scenario story = story("afs")
                .node("train-a", Pool.TRAINING, 3)
                .node("train-b", Pool.TRAINING, 1)
                .job("a", 4, shape);
        sizes(story, "a");
        assertThat(story.job("a").gpus()).isEqualTo(4);
        return story;
    }

    @Test
    void aJobThatLosesAGpuGoesOnWithTheNextSmallerSize() {
        Scenario story = onFour(JobShape.multiples(2));

        story.sample("train-b", Optional.of(79));

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(story.last())
                .extracting(decision -> decision.reason().text())
                .anyMatch(text -> text.contains("a lost 1 GPU") && text.contains("goes on with 2 GPUs"));
        assertThat(story.settled().verdict().violations()).isEmpty();
    }

    @Test
    void aJobThatLosesAGpuStopsIfNoSizeIsLeft() {
        Scenario story = onFour(JobShape.of(List.of(4)));

        story.sample("train-b", Optional.of(79));

        assertThat(story.job("a").gpus()).isZero();
        assertThat(story.settled().verdict().violations()).isEmpty();
    }

    @Test
    void aReclaimTakesAllGpusUpToTheNextSmallerSize() {
        Scenario story = story("afs")
                .node("train", Pool.TRAINING, 2)
                .node("infer", Pool.INFERENCE, 2)
                .service("chat", 0)
                .job("a", 4, JobShape.multiples(2));
        for (int i = 0; i < 40 && story.job("a").gpus() < 4; i++) {
            story.rate("chat", 0).settled().after(ofSeconds(15)).settled();
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        assertThat(story.job("a").gpus()).isEqualTo(4);

        story.rate("chat", 5);

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(story.settled().verdict().violations()).isEmpty();
    }

    @Test
    void aWrongProposalIsCutToTheLargestSize() {
        ScriptedPolicy policy = new ScriptedPolicy();
        Scenario story = story(policy).node("train", Pool.TRAINING, 4).job("a", 4, JobShape.multiples(2));
        List<GpuId> three = List.of(new GpuId("train-g0"), new GpuId("train-g1"), new GpuId("train-g2"));
        policy.propose(new Plan(Map.of(new JobId("a"), three), Map.of()));

        story.after(ofSeconds(61)).settled();

        assertThat(story.job("a").allocation().gpus()).hasSize(2).isSubsetOf(three);
        assertThat(story.decisions())
                .extracting(decision -> decision.reason().text())
                .anyMatch(text ->
                        text.contains("a starts on 2 GPUs: its shape (multiples of 2 GPUs) allows 2 of 3 GPUs"));
    }

    @Test
    void aRackThatChangesItsNameEndsInOneRack() {
        Scenario story = story("tiresias")
                .node("train-a", Pool.TRAINING, 2)
                .rack("train-a", "r1")
                .node("train-b", Pool.TRAINING, 1)
                .rack("train-b", "r1")
                .job("a", 3, JobShape.ANY.within(TopologyLevel.RACK, true));
        sizes(story, "a");
        assertThat(perNode(story, "a")).containsOnlyKeys("train-a", "train-b");

        story.rack("train-b", "r2").after(ofMinutes(2)).settled();

        assertThat(perNode(story, "a").keySet()).hasSize(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aJobWhoseDomainCannotBeReachedWaitsAndIsExplained() {
        Scenario story = story("deepboot").node("train-a", Pool.TRAINING, 2).node("train-b", Pool.TRAINING, 4);
        Node large = story.state().nodes().require(new NodeId("train-b")).node();
        story.tell(new Node(
                large.nodeId(),
                Scenario.DOMAIN,
                large.pool(),
                "boot-1",
                story.now(),
                NodeStatus.UNAVAILABLE,
                large.gpus()));
        story.tell(story.jobRecord("a", 4, false).shaped(JobShape.ANY.within(TopologyLevel.NODE, true)));
        List<String> vetoes = new ArrayList<>();
        StepListener listener = new StepListener() {
            @Override
            public void vetoed(JobId job, String why) {
                vetoes.add(why);
            }
        };

        story.after(ofMinutes(2));
        DomainEvent next = new DomainEvent(
                Scenario.DOMAIN,
                story.state().epoch(),
                story.state().eventSequence() + 1,
                story.now().plus(ofMinutes(2)),
                Optional.empty(),
                new Tick(Scenario.DOMAIN, story.now().plus(ofMinutes(2))));
        new Scheduler(Policies.parse("deepboot"), RACKS).step(story.state(), next, listener, WorkDue.ALWAYS);

        assertThat(story.job("a").gpus()).isZero();
        assertThat(vetoes)
                .contains(
                        "no number of GPUs fits it: its shape is one node (required), it needs 4 GPUs or more, and the nodes that training may use give it 2 at most");
    }

    @Test
    void jobsWithoutAShapeAreSeenAsTheyAre() {
        Scenario story = story("deepboot")
                .node("train", Pool.TRAINING, 2)
                .rack("train", "r1")
                .job("a", 2);
        List<Decision> decisions = new ArrayList<>(story.after(ofMinutes(2)).last());

        assertThat(story.state().clusterIndex().jobs().shaped().isEmpty()).isTrue();
        assertThat(decisions).isNotEmpty();
    }
}

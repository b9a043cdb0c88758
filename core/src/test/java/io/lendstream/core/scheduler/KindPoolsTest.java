package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.JobState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Kinds of GPUs are kept apart: a policy sees one at a time, and a job uses one at a time. */
@Tag("long")
class KindPoolsTest {
    private static final String A100 = "NVIDIA A100-SXM4-80GB";
    private static final String T4 = "Tesla T4";
    private static final KindId BIG = new KindId("A100-SXM4-80GB");
    private static final KindId SMALL = new KindId("Tesla-T4-16GB");
    private static final SchedulerSettings KINDS = SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS);

    private static Scenario story(String policy) {
        return new Scenario(new Scheduler(Policies.parse(policy), KINDS));
    }

    /** Two kinds in training's pool, and both in inference's. */
    private static Scenario mixed(Scenario story) {
        return story.node("train-a", Pool.TRAINING, 2, A100, 80)
                .node("train-t", Pool.TRAINING, 4, T4, 16)
                .node("infer-a", Pool.INFERENCE, 1, A100, 80)
                .node("infer-t", Pool.INFERENCE, 3, T4, 16);
    }

    private static Set<KindId> kinds(ClusterState state, JobState job) {
        return job.allocation().gpus().stream()
                .flatMap(gpu -> state.gpus().get(gpu).stream())
                .flatMap(gpu -> gpu.kind().stream())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void eachGpuAndItsLeaseHaveAKind() {
        Scenario story = mixed(story("deepboot"));

        assertThat(story.state().gpus().require(new GpuId("train-t-g0")).kind()).contains(SMALL);
        assertThat(story.leases())
                .filteredOn(lease -> lease.kind().equals(Optional.of(BIG)))
                .hasSize(3);
        assertThat(story.leases())
                .filteredOn(lease -> lease.kind().equals(Optional.of(SMALL)))
                .hasSize(7);
    }

    @Test
    void aCutGpuIsOfAKindToo() {
        Scenario story = story("deepboot").migNode("cut", Pool.INFERENCE, "3g.40gb@0 3g.40gb@4");

        assertThat(story.state().gpus().stream())
                .hasSize(2)
                .allMatch(unit -> unit.kind().equals(Optional.of(BIG)));
    }

    @Test
    void kindsAreGivenWhenASchedulerTakesOverThatTellsThemApart() {
        Scenario story = mixed(Scenario.of("deepboot"));
        assertThat(story.state().gpus().stream()).allMatch(gpu -> gpu.kind().isEmpty());

        ClusterState before = story.state();
        Scheduler next = new Scheduler(Policies.parse("deepboot"), KINDS);
        SchedulerStarted started = next.started(before, story.now());
        DomainEvent event = new DomainEvent(
                before.domain(), started.epoch(), before.eventSequence() + 1, story.now(), Optional.empty(), started);
        Step step = next.step(before, event);

        assertThat(step.state().gpus().stream()).allMatch(gpu -> gpu.kind().isPresent());
        assertThat(step.changed().owners())
                .as("their leases are published again")
                .hasSize(10);
    }

    @Test
    void aPolicySeesOneKindAtATime() {
        ScriptedPolicy policy = new ScriptedPolicy();
        Scenario story = mixed(new Scenario(new Scheduler(policy, KINDS)))
                .service("chat", 0)
                .job("a", 4)
                .job("b", 4);

        story.rate("chat", 0).after(ofMinutes(2));

        List<ClusterView> shown = policy.shown();
        assertThat(shown.subList(shown.size() - 2, shown.size()))
                .extracting(ClusterView::gpuCount)
                .containsExactly(3, 7);
        ClusterView small = shown.get(shown.size() - 1);
        assertThat(small.gpus()).allMatch(gpu -> gpu.kind().equals(Optional.of(SMALL)));
        assertThat(small.nodes()).isEqualTo(2);
        assertThat(small.gpusPerNode()).isEqualTo(4);
        assertThat(shown.subList(shown.size() - 2, shown.size()).stream()
                        .flatMap(view -> view.jobs().stream())
                        .map(JobView::job))
                .as("each job is in one view")
                .containsExactlyInAnyOrder(new JobId("a"), new JobId("b"));
    }

    /** The node has one whole GPU. Its other GPU is cut, and its MIG instances are of another kind. */
    @Test
    void aWholeNodeIsAllGpusOfTheKindThatTrainingHas() {
        Scenario story = story("afs").migNode("train-a", Pool.TRAINING, "3g.40gb@0 3g.40gb@4");
        Node cut = story.state().nodes().require(new NodeId("train-a")).node();
        List<Gpu> gpus = new ArrayList<>(cut.gpus());
        gpus.add(Gpu.whole(new GpuId("train-a-g1"), 1, T4, 16L << 30));
        story.tell(cut.with("boot-1", story.now(), gpus)).job("a", 1, JobShape.nodes());

        story.after(ofSeconds(61)).settled();

        assertThat(kinds(story.state(), story.job("a"))).containsExactly(SMALL);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aJobThatNoNumberOfGpusFitsDoesNotKeepOthersFromAKind() {
        Scenario story = story("afs")
                .node("train-a", Pool.TRAINING, 2, A100, 80)
                .node("train-t", Pool.TRAINING, 4, T4, 16)
                .job("a", 8, JobShape.multiples(9))
                .job("b", 4);

        story.after(ofSeconds(61)).settled();

        assertThat(story.job("a").gpus()).isZero();
        assertThat(kinds(story.state(), story.job("b"))).containsExactly(SMALL);
    }

    @Test
    void aJobOnOneNodeHasSizesUpToTheLargestNode() {
        Scenario story = story("afs")
                .node("train-a", Pool.TRAINING, 1, A100, 80)
                .node("train-b", Pool.TRAINING, 1, A100, 80)
                .node("train-t", Pool.TRAINING, 2, T4, 16)
                .actuator("one", Abilities.USUAL.withSpansNodes(false))
                .job("a", 4, JobShape.multiples(2).within(TopologyLevel.NODE, true));

        story.after(ofSeconds(61)).settled();

        assertThat(kinds(story.state(), story.job("a"))).containsExactly(SMALL);
    }

    @Test
    void whereAllGpusAreAlikeThePolicySeesTheWholeDomain() {
        ScriptedPolicy policy = new ScriptedPolicy();
        List<ClusterView> planned = new ArrayList<>();
        StepListener listener = new StepListener() {
            @Override
            public void planned(ClusterView view, Plan plan) {
                planned.add(view);
            }
        };
        Scenario story = new Scenario(new Scheduler(policy, KINDS))
                .node("train", Pool.TRAINING, 2, A100)
                .node("infer", Pool.INFERENCE, 2, A100)
                .job("a", 4);
        StepBuilder builder = new StepBuilder(
                story.state(),
                new DomainEvent(
                        Scenario.DOMAIN,
                        1,
                        story.state().eventSequence() + 1,
                        story.now(),
                        Optional.empty(),
                        new Tick(Scenario.DOMAIN, story.now())),
                listener);
        TrainingView training = new TrainingView(builder, KINDS);
        ClusterView view = training.view();

        Plan plan = new KindPools(builder, policy, training).plan(view);

        assertThat(policy.shown()).singleElement().isSameAs(view);
        assertThat(planned).singleElement().isSameAs(view);
        assertThat(plan).isSameAs(policy.plan(view));
    }

    static List<Policy> policies() {
        return Policies.all();
    }

    @ParameterizedTest
    @MethodSource("policies")
    void noPolicyGivesAJobTwoKinds(Policy policy) {
        Scenario story = mixed(new Scenario(new Scheduler(policy, KINDS)))
                .service("chat", 0)
                .job("a", 4)
                .job("b", 4)
                .rigidJob("c", 2);

        for (int i = 0; i < 12; i++) {
            story.rate("chat", 5 * (i % 3)).settled().after(ofSeconds(30)).settled();
            for (JobState job : story.state().jobs().stream().toList()) {
                assertThat(kinds(story.state(), job))
                        .as("%s after %d rounds", job.spec().job(), i)
                        .hasSizeLessThan(2);
                if (job.gpus() > 0) {
                    story.progress(job.spec().job().value(), JobPhase.RUNNING);
                }
            }
        }
        assertThat(story.state().jobs().stream().flatMap(job -> kinds(story.state(), job).stream()))
                .as("both kinds are used")
                .contains(BIG, SMALL);
    }

    @Test
    void aJobThatHoldsTwoKindsGetsOneWithItsNextPlan() {
        Scheduler alike = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);
        Scenario story = new Scenario(alike)
                .node("train-a", Pool.TRAINING, 1, A100, 80)
                .node("train-t", Pool.TRAINING, 3, T4, 16)
                .job("a", 4);
        for (int i = 0; i < 8 && story.job("a").gpus() < 4; i++) {
            story.after(ofMinutes(1)).settled().progress("a", JobPhase.RUNNING);
        }
        assertThat(story.job("a").gpus()).as("both kinds count as one").isEqualTo(4);

        story.takenOverBy(new Scheduler(Policies.parse("deepboot"), KINDS))
                .after(ofMinutes(2))
                .settled();

        assertThat(kinds(story.state(), story.job("a"))).containsExactly(SMALL);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aRigidJobThatHoldsTwoKindsWaitsForOne() {
        Scheduler alike = new Scheduler(Policies.parse("tiresias"), SchedulerSettings.DEFAULTS);
        Scenario story = new Scenario(alike)
                .node("train-a", Pool.TRAINING, 1, A100, 80)
                .node("train-t", Pool.TRAINING, 3, T4, 16)
                .rigidJob("a", 4);
        pass(story, 3);
        assertThat(story.job("a").gpus()).as("both kinds count as one").isEqualTo(4);

        pass(story.takenOverBy(new Scheduler(Policies.parse("tiresias"), KINDS)), 3);

        assertThat(story.job("a").gpus()).as("no kind has 4 GPUs").isZero();
        assertThat(story.decisions())
                .extracting(decision -> decision.reason().text())
                .contains("a gives up its 4 GPUs and waits: they are of several kinds now,"
                        + " and a job uses one kind of GPU at a time");
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aJobIsPlannedOnAKindThatHasTheMemoryForIt() {
        Scenario story = story("deepboot")
                .node("train-a", Pool.TRAINING, 1, A100, 80)
                .node("train-t", Pool.TRAINING, 4, T4, 16)
                .smallJob("large", 2, 40)
                .smallJob("too-large", 2, 100);

        pass(story, 3);

        assertThat(kinds(story.state(), story.job("large"))).containsExactly(BIG);
        assertThat(story.job("too-large").gpus()).isZero();
    }

    @Test
    void aJobWaitsForAKindWithTheMemoryForItWhileThatKindServes() {
        Scenario story = story("deepboot")
                .node("infer-a", Pool.INFERENCE, 1, A100, 80)
                .node("infer-t", Pool.INFERENCE, 2, T4, 16)
                .service("big", 1, 40)
                .settled()
                .smallJob("large", 1, 40);

        for (int i = 0; i < 6; i++) {
            story.rate("big", 5).after(ofSeconds(30)).settled();
        }

        assertThat(story.owner("infer-a-g0").label()).isEqualTo("serving");
        assertThat(story.job("large").gpus()).isZero();
    }

    @Test
    void aWaitingJobGoesToTheKindThatHasTheMostForItsSize() {
        Scenario story = story("deepboot")
                .node("train-a", Pool.TRAINING, 2, A100, 80)
                .node("train-t", Pool.TRAINING, 5, T4, 16)
                .rigidJob("a", 4)
                .rigidJob("b", 2);

        pass(story, 2);

        assertThat(kinds(story.state(), story.job("a"))).containsExactly(SMALL);
        assertThat(kinds(story.state(), story.job("b")))
                .as("the free T4 are for the 4 GPUs of the other job")
                .containsExactly(BIG);
    }

    /** Time passes in which an actuator answers within half a minute: a bind without an answer would be undone. */
    private static void pass(Scenario story, int minutes) {
        for (int i = 0; i < 2 * minutes; i++) {
            story.after(ofSeconds(30)).settled();
        }
    }

    @Test
    void aReplicaGetsAGpuWithTheMemoryThatItNeeds() {
        Scenario story = story("deepboot")
                .node("infer-1", Pool.INFERENCE, 2, T4, 16)
                .node("infer-2", Pool.INFERENCE, 1, A100, 80)
                .service("big", 0, 40)
                .service("tiny", 0, 8);

        story.rate("big", 5);
        List<Decision> big = story.last();
        story.rate("tiny", 15);

        assertThat(big)
                .singleElement()
                .satisfies(decision -> assertThat(decision.action().gpus()).containsExactly(new GpuId("infer-2-g0")));
        assertThat(story.last())
                .singleElement()
                .satisfies(decision -> assertThat(decision.action().gpus())
                        .containsExactly(new GpuId("infer-1-g0"), new GpuId("infer-1-g1")));
    }

    @Test
    void aReclaimTakesLoansWithTheMemoryThatAReplicaNeeds() {
        Scenario story = story("deepboot")
                .node("infer-a", Pool.INFERENCE, 1, A100, 80)
                .node("infer-t", Pool.INFERENCE, 2, T4, 16)
                .service("big", 0, 40)
                .rigidJob("a", 1)
                .rigidJob("b", 1)
                .rigidJob("c", 1);
        for (int i = 0; i < 6; i++) {
            story.rate("big", 0).after(ofSeconds(30)).settled();
        }
        assertThat(story.count("lent")).isEqualTo(3);

        story.rate("big", 5);

        assertThat(story.last()).singleElement().satisfies(decision -> {
            assertThat(decision.action()).isInstanceOf(Action.Reclaim.class);
            assertThat(decision.action().gpus()).containsExactly(new GpuId("infer-a-g0"));
            assertThat(decision.reason().text())
                    .endsWith("takes these loans first of those with the memory that a replica needs");
        });
    }

    @Test
    void eachServiceFreesGpusOfItsOwn() {
        Scenario story = story("deepboot")
                .node("infer-a", Pool.INFERENCE, 2, A100, 80)
                .node("infer-t", Pool.INFERENCE, 1, T4, 16)
                .service("big-1", 0, 40)
                .service("big-2", 0, 40)
                .rigidJob("a", 1)
                .rigidJob("b", 1)
                .rigidJob("c", 1);
        for (int i = 0; i < 6; i++) {
            story.rate("big-1", 0).rate("big-2", 0).after(ofSeconds(30)).settled();
        }
        assertThat(story.count("lent")).isEqualTo(3);

        List<Decision> reclaims = new ArrayList<>(story.rate("big-1", 5).last());
        reclaims.addAll(story.rate("big-2", 5).last());

        assertThat(reclaims)
                .flatExtracting(decision -> decision.action().gpus())
                .containsExactlyInAnyOrder(new GpuId("infer-a-g0"), new GpuId("infer-a-g1"));
    }

    @Test
    void aReportOnALoanLeadsToTheReclaimThatAServiceWaitsFor() {
        Scenario story = story("deepboot")
                .node("infer-a", Pool.INFERENCE, 1, A100, 80)
                .node("infer-t", Pool.INFERENCE, 1, T4, 16)
                .service("big", 0, 40)
                .rigidJob("a", 1);
        story.rate("big", 0).after(ofSeconds(30)).rate("big", 0).after(ofSeconds(30));
        List<Decision> lend = story.last();
        story.rate("big", 5);
        assertThat(story.last())
                .as("the loan is not bound yet, and a T4 is too small")
                .isEmpty();

        List<Action> decided = new ArrayList<>();
        for (ActuationReport report : story.answers(lend.get(0))) {
            story.tell(report).last().forEach(decision -> decided.add(decision.action()));
        }

        assertThat(lend.get(0).action().gpus()).containsExactly(new GpuId("infer-a-g0"));
        assertThat(decided).singleElement().satisfies(action -> {
            assertThat(action).isInstanceOf(Action.Reclaim.class);
            assertThat(action.gpus()).containsExactly(new GpuId("infer-a-g0"));
        });
    }

    @Test
    void memoryIsNoMatterWhereAllGpusAreAlike() {
        Scenario story =
                story("deepboot").node("infer", Pool.INFERENCE, 1, T4, 16).service("big", 0, 40);

        story.rate("big", 5);

        assertThat(story.owner("infer-g0").label()).isEqualTo("binding");
    }

    @Seeds(150)
    void oneKindIsDecidedAsIfKindsWereNotToldApart(long seed) {
        RandomHistory history = RandomHistory.of(seed, ClusterModel.ALIKE, List.of(A100));
        Scheduler alike = history.scheduler();
        Scheduler kinds = new Scheduler(
                alike.policy(), alike.settings().withModel(ClusterModel.KINDS), alike.latencies(), alike.decidesFrom());

        List<Decision> again = new ArrayList<>();
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : history.log()) {
            Step step = kinds.step(state, event);
            state = step.state();
            again.addAll(step.decisions());
        }

        assertThat(again).isEqualTo(history.decisions());
    }

    @Seeds(150)
    void noDecisionMixesKinds(long seed) {
        RandomHistory history = RandomHistory.of(seed, ClusterModel.KINDS, List.of(A100, T4, "NVIDIA L4"));
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN, started -> history.scheduler());
        history.log().forEach(checker::take);

        assertThat(checker.verdict(history.decisions(), List.of()).violations())
                .extracting(Violation::rule)
                .doesNotContain("kind", "one owner", "gang", "replay");
    }

    @Seeds(40)
    void shortcutsHoldForSeveralKinds(long seed) {
        RandomHistory history = RandomHistory.of(seed, ClusterModel.KINDS, List.of(A100, T4));
        ShortcutOracle oracle = new ShortcutOracle(history.scheduler(), WorkDue.BY_EVENT);

        assertThat(oracle.firstError(history.log())).isEmpty();
    }

    @Test
    void kindsAreCountedAsUnitsComeAndGo() {
        Scenario story = mixed(story("deepboot"));

        assertThat(counts(story.state())).isEqualTo(Map.of(BIG, 3, SMALL, 7));
        assertThat(counts(mixed(Scenario.of("deepboot")).state())).isEmpty();
    }

    private static Map<KindId, Integer> counts(ClusterState state) {
        Map<KindId, Integer> counts = new TreeMap<>();
        state.clusterIndex().trainingCapacity().kinds().forEach(kind -> counts.put(kind.getKey(), kind.getValue()));
        return counts;
    }
}

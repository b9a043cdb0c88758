package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.event.UnitChoice;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Decisions keep within what actuators can do, and one hold of a plan names what is missing. */
class AbilityGuardTest {
    private static final Abilities ONE_NODE = Abilities.USUAL.withSpansNodes(false);

    /** Two plans further, with reports of all that is decided. */
    private static Scenario planned(Scenario story) {
        for (int i = 0; i < 8; i++) {
            story.after(ofSeconds(30)).settled();
            for (String job : List.of("a", "b")) {
                boolean runs = story.state()
                        .jobs()
                        .get(new JobId(job))
                        .filter(known -> known.gpus() > 0)
                        .isPresent();
                if (runs) {
                    story.progress(job, JobPhase.RUNNING).settled();
                }
            }
        }
        return story;
    }

    private static List<Decision> holds(Scenario story) {
        return story.decisions().stream()
                .filter(decision -> decision.reason().is(ReasonCode.ABILITY))
                .toList();
    }

    /** Two GPUs of training and one of inference. */
    private static Scenario twoNodes() {
        return Scenario.of("deepboot").node("train", Pool.TRAINING, 2).node("infer", Pool.INFERENCE, 1);
    }

    /** The reason of the hold in which plans start nothing, for lack of an ability. */
    private static String whyNothingStarts(Scenario story, String ability) {
        planned(story.service("chat", 1).job("a", 2));
        assertThat(story.job("a").gpus()).isZero();
        assertThat(story.count("serving")).isZero();
        assertThat(holds(story)).isNotEmpty();
        assertThat(holds(story).get(0).action()).isEqualTo(Action.Hold.without(ability));
        return holds(story).get(0).reason().text();
    }

    private static void assertBothStart(Scenario story) {
        planned(story);
        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(story.count("serving")).isEqualTo(1);
    }

    @Test
    void anUnknownSymbolCountsAsTheLeastAbility() {
        Abilities unknown = new Abilities(
                UnitChoice.UNKNOWN,
                UnitChoice.UNKNOWN,
                Granularity.UNKNOWN,
                Optional.empty(),
                true,
                false,
                false,
                true);

        assertThat(unknown.atBind()).isEqualTo(UnitChoice.NOTHING);
        assertThat(unknown.atRelease()).isEqualTo(UnitChoice.NOTHING);
        assertThat(unknown.granularity()).isEqualTo(Granularity.NODE_GROUP);
    }

    @Test
    void aNodeThatTwoActuatorsClaimGetsNoNewTenant() {
        Scenario story = twoNodes().actuator("one", Abilities.USUAL).actuator("two", Abilities.USUAL, "train", "infer");

        assertThat(whyNothingStarts(story, "actuator"))
                .isEqualTo("the plan leaves out what drivers cannot do: actuators two and one both claim node infer;"
                        + " set actuator.nodes of each (and 1 more)");

        assertBothStart(story.actuator("two", Abilities.USUAL, "other"));
    }

    @Test
    void nothingStartsWhereTheDriverDoesNotChooseTheNode() {
        Scenario story = twoNodes().actuator("one", Abilities.USUAL.choosing(UnitChoice.NOTHING, UnitChoice.NOTHING));

        assertThat(whyNothingStarts(story, "atBind"))
                .isEqualTo("the plan leaves out what drivers cannot do: actuator one does not choose the node where a"
                        + " tenant starts (atBind nothing), so nothing starts on its nodes");

        assertBothStart(story.actuator("one", Abilities.USUAL.choosing(UnitChoice.NODE, UnitChoice.NOTHING)));
    }

    @Test
    void atMostOneHoldIsDecidedForEachPlan() {
        Scenario story = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 2)
                .actuator("one", Abilities.USUAL)
                .actuator("two", Abilities.USUAL)
                .job("a", 2);
        story.after(ofSeconds(61)).job("b", 2).after(ofSeconds(61));

        assertThat(holds(story)).hasSizeGreaterThan(1);
        assertThat(holds(story)).extracting(Decision::at).doesNotHaveDuplicates();
    }

    @Test
    void anElasticJobStaysOnOneNodeWhereItsActuatorCannotSpanNodes() {
        Scenario story = planned(Scenario.of("deepboot")
                .node("train-a", Pool.TRAINING, 2)
                .node("train-b", Pool.TRAINING, 2)
                .actuator("one", ONE_NODE)
                .job("a", 4));

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(story.job("a").allocation().gpus())
                .extracting(gpu -> story.state().gpus().require(gpu).nodeId())
                .containsOnly(story.state()
                        .gpus()
                        .require(story.job("a").allocation().gpus().get(0))
                        .nodeId());
    }

    @Test
    void aJobThatNeedsSeveralNodesWaitsAndTheHoldSaysWhy() {
        Scenario story = planned(Scenario.of("deepboot")
                .node("train-a", Pool.TRAINING, 2)
                .node("train-b", Pool.TRAINING, 2)
                .actuator("one", ONE_NODE)
                .rigidJob("a", 3)
                .rigidJob("b", 2));

        assertThat(story.job("a").gpus()).isZero();
        assertThat(story.job("b").gpus()).isEqualTo(2);
        assertThat(holds(story).get(0).action()).isEqualTo(Action.Hold.without("spansNodes"));
        assertThat(holds(story).get(0).reason().text())
                .isEqualTo("the plan leaves out what drivers cannot do: a needs 3 GPUs, and no actuator runs one job on"
                        + " several nodes");
    }

    @Test
    void aPlanIsCutWhereOneOfItsNodesCannotSpan() {
        Scenario story = planned(Scenario.of("deepboot")
                .node("train-a", Pool.TRAINING, 2)
                .node("train-b", Pool.TRAINING, 2)
                .actuator("one", ONE_NODE, "train-a")
                .actuator("two", Abilities.USUAL, "train-b")
                .job("a", 4));

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(holds(story)).isNotEmpty();
        assertThat(holds(story).get(0).reason().text())
                .isEqualTo("the plan leaves out what drivers cannot do: actuator one does not run one job on several"
                        + " nodes");
    }

    /** A part that its shape forbids could not be carried out, and the job would get nothing. */
    @Test
    void aPlanIsCutToAPartThatTheShapeOfTheJobAllows() {
        Scenario story = Scenario.of("deepboot")
                .node("train-a", Pool.TRAINING, 3)
                .node("train-b", Pool.TRAINING, 3)
                .actuator("one", ONE_NODE, "train-a")
                .actuator("two", Abilities.USUAL, "train-b")
                .job("a", 6, JobShape.multiples(2));
        List<GpuId> all = story.state().gpus().stream().map(GpuState::gpuId).toList();
        StepBuilder builder = builder(story);

        AbilityPlan part = AbilityPlan.of(
                builder,
                new ShapeGuard(builder, TopologyLabels.NONE),
                new Plan(Map.of(new JobId("a"), all), Map.of()),
                false);

        assertThat(part.plan().targets().get(new JobId("a"))).hasSize(2);
        assertThat(part.refusals()).containsOnlyKeys(new JobId("a"));
    }

    @Test
    void policiesSeeTheDeadlinesOfJobsThatStayOnOneNode() {
        Scenario story = Scenario.of("deepboot")
                .node("train-a", Pool.TRAINING, 2)
                .actuator("one", ONE_NODE)
                .service("chat", 0);
        Instant due = story.now().plusSeconds(3600);
        story.tell(story.jobRecord("a", 2, true).due(due, DeadlineKind.SOFT));
        story.tell(story.jobRecord("b", 2, true).shaped(JobShape.multiples(2)).due(due, DeadlineKind.SOFT));

        assertThat(new TrainingView(builder(story), SchedulerSettings.DEFAULTS)
                        .view()
                        .jobs())
                .hasSize(2)
                .allSatisfy(job -> assertThat(job.deadline()).isPresent());
    }

    /** Of the 4 GPUs that the policy gives it, 3 are on one node, of which its shape allows 2. */
    @Test
    void whatIsLeftOfAPlanIsASizeThatTheShapeAllows() {
        Scenario story = planned(ofTwoAbilities("afs").job("a", 4, JobShape.multiples(2)));

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(story.verdict().violations()).isEmpty();
    }

    private static Scenario ofTwoAbilities(String policy) {
        return Scenario.of(policy)
                .node("train-a", Pool.TRAINING, 3)
                .node("train-b", Pool.TRAINING, 1)
                .actuator("one", ONE_NODE, "train-a")
                .actuator("two", Abilities.USUAL, "train-b");
    }

    /** It gives a job what it asked for or nothing: its next plan would take a part back. */
    @Test
    void noPartIsGivenUnderAPolicyThatGivesAllThatAJobAskedFor() {
        Scenario story = ofTwoAbilities("tiresias").job("a", 4, JobShape.multiples(2));

        for (int minute = 0; minute < 5; minute++) {
            planned(story);
        }

        assertThat(story.decisions())
                .allSatisfy(
                        decision -> assertThat(decision.action().jobChange()).isEmpty());
        assertThat(holds(story)).isNotEmpty();
    }

    @Test
    void aJobThatNoNodeCanHoldWaitsWithoutKeepingGpusFromOthers() {
        Scenario story = Scenario.of("tiresias")
                .node("train-a", Pool.TRAINING, 2)
                .node("train-b", Pool.TRAINING, 2)
                .actuator("one", ONE_NODE)
                .job("a", 4)
                .job("b", 2);

        for (int minute = 0; minute < 3; minute++) {
            planned(story);
        }

        assertThat(story.job("a").gpus()).isZero();
        assertThat(story.job("b").gpus()).isEqualTo(2);
        assertThat(story.decisions())
                .filteredOn(decision -> decision.action().jobChange().isPresent())
                .hasSize(1);
        assertThat(holds(story).get(0).reason().text())
                .contains("a needs 4 GPUs, and no actuator runs one job on several nodes");
    }

    @Test
    void aChangeOverTwoActuatorsIsInForceWhenBothHaveSaidSo() {
        Scenario story = Scenario.of("deepboot")
                .node("train-a", Pool.TRAINING, 1)
                .node("train-b", Pool.TRAINING, 1)
                .actuator("one", Abilities.USUAL, "train-a")
                .actuator("two", Abilities.USUAL, "train-b")
                .rigidJob("a", 2)
                .after(ofSeconds(61));
        DecisionId change = story.job("a").changing().orElseThrow();
        assertThat(story.job("a").change().awaited()).containsExactly("one", "two");

        story.tell(report(story, "one", change, Outcome.BOUND, "train-a-g0"))
                .tell(report(story, "one", change, Outcome.APPLIED))
                .tell(report(story, "two", change, Outcome.BOUND, "train-b-g0"));

        assertThat(story.job("a").changing()).contains(change);
        assertThat(story.job("a").change().awaited()).containsExactly("two");

        story.tell(report(story, "two", change, Outcome.APPLIED));

        assertThat(story.job("a").changing()).isEmpty();
    }

    @Test
    void aChangeOfOneActuatorIsInForceWithTheFirstReport() {
        Scenario story = Scenario.of("deepboot")
                .node("train-a", Pool.TRAINING, 2)
                .actuator("one", Abilities.USUAL)
                .rigidJob("a", 2)
                .after(ofSeconds(61));
        DecisionId change = story.job("a").changing().orElseThrow();

        assertThat(story.job("a").change().awaited()).isEmpty();
        story.tell(report(story, "another", change, Outcome.APPLIED));

        assertThat(story.job("a").changing()).isEmpty();
    }

    /** It may hold other GPUs of the job by an earlier decision, and report on each that it hears of. */
    @Test
    void anActuatorThatTakesNoPartInAChangeDoesNotSettleIt() {
        Scenario story = Scenario.of("deepboot")
                .node("train-a", Pool.TRAINING, 2)
                .actuator("one", Abilities.USUAL, "train-a")
                .actuator("two", Abilities.USUAL, "train-b")
                .rigidJob("a", 2)
                .after(ofSeconds(61));
        DecisionId change = story.job("a").changing().orElseThrow();

        story.tell(report(story, "two", change, Outcome.APPLIED));
        assertThat(story.job("a").changing()).contains(change);

        story.tell(report(story, "one", change, Outcome.APPLIED));
        assertThat(story.job("a").changing()).isEmpty();
    }

    private static ActuationReport report(
            Scenario story, String actuator, DecisionId decision, Outcome outcome, String... gpus) {
        return new ActuationReport(
                Scenario.DOMAIN,
                decision,
                actuator,
                story.now(),
                outcome,
                List.of(gpus).stream().map(GpuId::new).toList(),
                Optional.of(new Tenant.Job(new JobId("a"))),
                Timings.NONE,
                "");
    }

    @Test
    void gpusThatNoDriverCanCutAreNotPlanned() {
        Scheduler scheduler = new Scheduler(
                Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withRepartition(true), Slices.LATENCIES);
        Scenario story = new Scenario(scheduler).switchableNode("cut", Pool.INFERENCE, "", "");
        assertThat(CuttableGpus.of(builder(story))).isPresent();

        story.actuator("one", Abilities.USUAL.withMig(false));

        assertThat(CuttableGpus.of(builder(story))).isEmpty();
        assertThat(CuttableGpus.unable(builder(story))).containsExactly("one");
    }

    @Test
    void aDriverThatDoesNotChooseUnitsNeverSwapsThem() {
        Scenario story = Scenario.of("deepboot").node("train", Pool.TRAINING, 2).actuator("one", Abilities.USUAL);
        List<GpuId> first = List.of(new GpuId("train-g0"));
        List<GpuId> second = List.of(new GpuId("train-g1"));
        assertThat(new AbilityGuard(builder(story)).givesUpFirst(first, second)).isFalse();

        story.actuator(
                "one",
                new Abilities(
                        UnitChoice.NODE,
                        UnitChoice.NODE,
                        Granularity.GPU,
                        Optional.empty(),
                        false,
                        false,
                        false,
                        true));

        AbilityGuard guard = new AbilityGuard(builder(story));
        assertThat(guard.givesUpFirst(first, second)).isTrue();
        assertThat(guard.givesUpFirst(first, List.of(first.get(0), second.get(0))))
                .as("it only grows")
                .isFalse();
    }

    private static StepBuilder builder(Scenario story) {
        DomainEvent last = story.log().get(story.log().size() - 1);
        return new StepBuilder(story.state(), last, StepListener.NONE);
    }

    @Test
    void anIdleGpuOfADisputedNodeIsReviewed() {
        Scheduler scheduler = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(Map.of()));
        Scenario story = new Scenario(scheduler)
                .node("infer", Pool.INFERENCE, 2)
                .actuator("one", Abilities.USUAL)
                .actuator("two", Abilities.USUAL)
                .service("chat", 0)
                .rate("chat", 0)
                .job("a", 2);

        UnitReview review = LendingReview.of(scheduler, story.state(), story.now())
                .of(new GpuId("infer-g0"))
                .get(0);

        assertThat(review.cause()).isEqualTo(UnitReview.Cause.ABILITY);
        assertThat(review.reason())
                .isEqualTo("actuators one and two both claim node infer; set actuator.nodes of each");
    }

    @Test
    void aDescriptionThatSaysTheSameAgainChangesNoPlan() {
        Scenario story = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 2)
                .actuator("one", Abilities.USUAL)
                .after(ofSeconds(61))
                .actuator("one", Abilities.USUAL);

        assertThat(story.state().actuators().require("one").at()).isEqualTo(story.now());
        assertThat(story.last()).isEmpty();
    }

    /** With all phases at every event: an event more is a moment more at which a plan may be due. */
    @Seeds(40)
    void anActuatorThatCanDoEverythingChangesNoDecision(long seed) {
        RandomHistory history = RandomHistory.of(seed);
        ActuatorDescription usual = new ActuatorDescription(
                "one", Scenario.DOMAIN, Scenario.START, "simulated", List.<NodeId>of(), Abilities.USUAL);

        assertThat(actions(history, Optional.of(usual))).isEqualTo(actions(history, Optional.empty()));
    }

    /** What a log leads to, if an actuator describes itself when it begins. */
    private static List<Action> actions(RandomHistory history, Optional<ActuatorDescription> described) {
        List<Action> actions = new ArrayList<>();
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : history.log()) {
            Step step = step(history, state, moved(state, event));
            state = step.state();
            step.decisions().forEach(decision -> actions.add(decision.action()));
            if (event.event().asStarted().isPresent() && described.isPresent()) {
                DomainEvent next = new DomainEvent(
                        Scenario.DOMAIN,
                        state.epoch(),
                        state.eventSequence() + 1,
                        event.at(),
                        Optional.empty(),
                        described.get());
                state = step(history, state, next).state();
            }
        }
        return actions;
    }

    private static Step step(RandomHistory history, ClusterState state, DomainEvent event) {
        return history.scheduler().step(state, event, StepListener.NONE, WorkDue.ALWAYS);
    }

    /** The event as the next one of a log. */
    private static DomainEvent moved(ClusterState state, DomainEvent event) {
        return new DomainEvent(
                event.domain(), event.epoch(), state.eventSequence() + 1, event.at(), event.origin(), event.event());
    }

    /** Ten minutes with a service that needs nothing. */
    private static Scenario idle(Scenario story) {
        for (int i = 0; i < 40; i++) {
            story.rate("chat", 0).settled().after(ofSeconds(15)).settled();
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        return story;
    }

    /** Two GPUs of training and two on loan, and then a service needs one. */
    private static Scenario halfLent(UnitChoice atRelease) {
        Scenario story = idle(Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 2)
                .node("infer", Pool.INFERENCE, 2)
                .actuator("one", Abilities.USUAL.choosing(UnitChoice.NODE, atRelease))
                .service("chat", 0)
                .job("a", 4));
        assertThat(story.count("training")).isEqualTo(2);
        assertThat(story.count("lent")).isEqualTo(2);
        return story.rate("chat", 5);
    }

    private static Action.Reclaim reclaim(Scenario story) {
        return story.last().stream()
                .flatMap(decision -> decision.action().asReclaim().stream())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aJobGivesAllItsGpusBackWhereItsControllerChoosesThoseThatItLeaves() {
        Scenario story = halfLent(UnitChoice.NOTHING);

        assertThat(reclaim(story).gpus()).hasSize(4);
        assertThat(story.job("a").gpus()).isZero();
        assertThat(story.last().get(0).reason().text())
                .startsWith("a gives 4 GPUs back and waits, as its controller chooses those that it leaves: chat ");
    }

    @Test
    void aJobGivesBackWhatIsNeededWhereItsDriverChoosesTheNode() {
        Scenario story = halfLent(UnitChoice.NODE);

        assertThat(reclaim(story).gpus()).hasSize(1);
        assertThat(story.job("a").gpus()).isEqualTo(3);
    }

    @Test
    void aJobWithLoansOnlyGivesBackWhatIsNeeded() {
        Scenario story = idle(Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 3)
                .actuator("one", Abilities.USUAL.choosing(UnitChoice.NODE, UnitChoice.NOTHING))
                .service("chat", 0)
                .job("a", 3));
        assertThat(story.count("lent")).isEqualTo(3);

        story.rate("chat", 5);

        assertThat(reclaim(story).gpus()).hasSize(1);
        assertThat(story.job("a").gpus()).isEqualTo(2);
    }
}

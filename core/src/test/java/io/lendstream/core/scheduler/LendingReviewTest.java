package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.UnitReview.Cause;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Why GPUs are not lent; and that they are, in the first plan for which the reason is gone. */
class LendingReviewTest {
    private Scheduler scheduler = scheduler(Map.of());
    private Scenario story = new Scenario(scheduler);

    private static Scheduler scheduler(Map<String, String> settings) {
        return new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(settings));
    }

    /** A scheduler with a setting that is not usual. */
    private void with(String key, String value) {
        scheduler = scheduler(Map.of(key, value));
        story = new Scenario(scheduler);
    }

    /** Four GPUs of inference, of which the first serves, and one of training. */
    private void cluster() {
        story.node("train", Pool.TRAINING, 1)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled()
                .rate("chat", 1);
    }

    private void rigidJobs(int count) {
        for (int i = 0; i < count; i++) {
            story.rigidJob("job-" + i, 1);
        }
    }

    private UnitReview review(String gpu) {
        return review(scheduler, gpu);
    }

    private UnitReview review(Scheduler by, String gpu) {
        List<UnitReview> reviews =
                LendingReview.of(by, story.state(), story.now()).of(new GpuId(gpu));
        assertThat(reviews).hasSize(1);
        return reviews.get(0);
    }

    private void assertReview(String gpu, Cause cause, String reason) {
        UnitReview review = review(gpu);
        assertThat(review.reason()).isEqualTo(reason);
        assertThat(review.cause()).isEqualTo(cause);
    }

    /** Nothing is in the way: so says the review, and so does a plan that is made now. */
    private void assertIsLent(String gpu) {
        assertIsLent(scheduler, gpu);
    }

    private void assertIsLent(Scheduler by, String gpu) {
        assertThat(review(by, gpu).cause()).as(review(by, gpu).reason()).isEqualTo(Cause.NEXT_PLAN);
        assertThat(planned(by)).anyMatch(decision -> decision.action().gpus().contains(new GpuId(gpu)));
    }

    private void assertIsNotLent(String gpu) {
        assertThat(planned(scheduler))
                .noneMatch(decision -> decision.action().gpus().contains(new GpuId(gpu)));
    }

    private List<Decision> planned(Scheduler by) {
        return new EditedState(story).planAt(story.now()).tick(by).decisions();
    }

    /** Goes on to the next plan, with a rate right before it. */
    private void nextPlan() {
        story.after(ofSeconds(50)).settled().rate("chat", 1).settled().after(ofSeconds(10));
    }

    @Test
    void aReplicaThatDemandNeedsKeepsItsGpu() {
        cluster();
        story.job("a", 4).rate("chat", 1);

        assertReview("infer-g0", Cause.IN_USE, "chat runs on it: 1 needed for the current load, 1 running");
        assertIsNotLent("infer-g0");
    }

    @Test
    void withoutAJobNothingIsLent() {
        cluster();

        assertReview("infer-g1", Cause.NO_JOB, "no training job waits or runs");
        assertIsNotLent("infer-g1");

        story.rigidJob("a", 1).rigidJob("b", 1);

        assertIsLent("infer-g1");
    }

    @Test
    void whatTheNextPlanLendsSaysWhenAndWhy() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1).after(ofSeconds(15)).rate("chat", 1);

        UnitReview review = review("infer-g1");

        assertThat(review.reason()).matches("the next plan \\(in 45 s\\) lends it to [ab]: [ab] starts on 1 GPU: .*");
        assertThat(review.until())
                .contains(story.now().plusSeconds(45))
                .isEqualTo(story.state().nextPlanAt());
        story.after(ofSeconds(30)).rate("chat", 1).after(ofSeconds(15));
        assertThat(story.owner("infer-g1").isBinding()).isTrue();
    }

    @Test
    void whereLendingIsOffItsSettingIsNamed() {
        with("lending", "false");
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1);

        assertReview("infer-g1", Cause.LENDING_OFF, "lending is switched off (scheduler.lending=false)");
        assertIsNotLent("infer-g1");
        assertIsLent(scheduler(Map.of()), "infer-g1");
    }

    @Test
    void aFrozenDomainMakesNoPlan() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1).control(ControlCommand.Kind.FREEZE);

        assertReview("infer-g1", Cause.NO_PLAN, "no training plan is made: the domain is frozen");
        assertIsNotLent("infer-g1");

        story.control(ControlCommand.Kind.THAW);

        assertIsLent("infer-g1");
    }

    @Test
    void noPlanIsMadeInAQuietWindow() {
        with("quiet-windows", "thu 00:00-00:02");
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1);

        assertReview(
                "infer-g1", Cause.NO_PLAN, "no training plan is made: the quiet window thu 00:00-00:02 UTC is open");
        assertIsNotLent("infer-g1");

        story.after(ofMinutes(2)).rate("chat", 1);

        assertIsLent("infer-g1");
    }

    @Test
    void whileMostNodesAreSilentNoPlanIsMade() {
        cluster();
        story.rigidJob("a", 1)
                .rigidJob("b", 1)
                .sample("train", Optional.empty())
                .sample("infer", Optional.empty());
        story.withoutTicks(ofSeconds(61)).sample("infer", Optional.empty()).rate("chat", 1);

        assertReview(
                "infer-g1",
                Cause.NO_PLAN,
                "no training plan is made: 1 of 2 nodes does not report, more than 40 %, so the fault is likely in the reporting path");
        assertThat(review("infer-g0").reason()).isEqualTo("chat runs on it");
        assertIsNotLent("infer-g1");

        story.sample("train", Optional.empty());

        assertThat(story.last())
                .anyMatch(decision -> decision.action() instanceof Action.Lend lend
                        && lend.gpus().contains(new GpuId("infer-g1")));
    }

    @Test
    void whileDemandIsStaleNothingMoreIsLent() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1).withoutTicks(ofSeconds(50));

        assertReview(
                "infer-g1",
                Cause.NO_NEW_LOANS,
                "no further GPU is lent: the request rates of chat are 50 s old (limit: 45 s, 3 windows of 15 s)");
        assertIsNotLent("infer-g1");

        story.rate("chat", 1);

        assertIsLent("infer-g1");
    }

    @Test
    void afterReclaimAllNothingIsLentUntilAThaw() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1).control(ControlCommand.Kind.RECLAIM_ALL);

        assertReview(
                "infer-g1",
                Cause.NO_NEW_LOANS,
                "no further GPU is lent: an operator ordered all loans back; 'lendstream thaw' allows loans again");

        story.control(ControlCommand.Kind.THAW);

        assertIsLent("infer-g1");
    }

    @Test
    void ofIdleGpusOnlyAShareIsLentAndTheOthersAreReserve() {
        with("max-share-lent", "0.5");
        cluster();
        rigidJobs(5);

        assertIsLent("infer-g2");
        assertReview(
                "infer-g3",
                Cause.RESERVE,
                "it is kept as reserve: scheduler.max-share-lent is 0.5: of 4 GPUs of inference on reachable nodes, at most 2"
                        + " may be lent at a time, and 0 are; raise the setting to lend more");
        assertIsNotLent("infer-g3");
        assertIsLent(scheduler(Map.of("max-share-lent", "0.75")), "infer-g3");
    }

    private void status(String node, NodeStatus status) {
        Node known = story.state().nodes().require(new NodeId(node)).node();
        story.tell(new Node(
                known.nodeId(), known.domain(), known.pool(), known.bootId(), story.now(), status, known.gpus()));
    }

    @Test
    void aNodeThatCannotBeReachedIsNamed() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1);
        status("infer", NodeStatus.PAUSED);

        assertReview("infer-g1", Cause.NODE_AWAY, "the agent of node infer reports the node as paused");
        assertIsNotLent("infer-g1");

        status("infer", NodeStatus.READY);

        assertIsLent("infer-g1");
    }

    @Test
    void aQuarantinedGpuSaysWhyAndHowItComesBack() {
        cluster();
        story.rigidJob("a", 1).job("b", 4).sample("infer", Optional.of(79));

        UnitReview review = review("infer-g1");

        assertThat(review.cause()).isEqualTo(Cause.OUT_OF_SERVICE);
        assertThat(review.reason())
                .startsWith("it is out of service: XID 79")
                .endsWith("; repair it, then run 'lendstream reset infer-g1'");
        assertIsNotLent("infer-g1");

        story.control(ControlCommand.Kind.RESET, new GpuId("infer-g1"))
                .rate("chat", 1)
                .settled();
        story.control(ControlCommand.Kind.RESET, new GpuId("infer-g2")).rate("chat", 1);

        assertIsLent("infer-g2");
    }

    @Test
    void aReplicaIsKeptWarmForAWhileAfterDemandAndCanThenBeStoppedForTraining() {
        cluster();
        story.rate("chat", 35).settled();
        rigidJobs(5);
        story.after(ofSeconds(1)).rate("chat", 1);

        UnitReview warm = review("infer-g3");

        assertThat(warm.cause()).isEqualTo(Cause.KEPT_WARM);
        assertThat(warm.reason())
                .isEqualTo("chat needed it until a short time ago: 1 needed for the current load, 1 running;"
                        + " its replica stays warm for another 31 s");
        assertThat(warm.until()).contains(story.now().plusSeconds(31));
        assertIsNotLent("infer-g3");

        story.withoutTicks(ofSeconds(31));

        assertThat(planned(scheduler))
                .anyMatch(decision -> decision.action() instanceof Action.Idle idle
                        && idle.gpus().contains(new GpuId("infer-g3")));
        assertThat(review("infer-g3").cause()).isEqualTo(Cause.KEPT_WARM);
        story.after(Duration.ZERO);
        assertThat(review("infer-g3").reason()).contains(" stops its sleeping replica to lend it to job-");
        assertIsLent("infer-g3");
    }

    @Test
    void aReplicaThatIsAboutToRestIsSoonKeptWarm() {
        cluster();
        story.rate("chat", 35).settled();
        EditedState state = new EditedState(story)
                .service(
                        "chat",
                        known -> known.observed(
                                story.rateRecord("chat", 1, 99), known.demand().event()));

        UnitReview review = LendingReview.of(scheduler, state.state(), story.now())
                .of(new GpuId("infer-g3"))
                .get(0);

        assertThat(review.cause()).isEqualTo(Cause.KEPT_WARM);
        assertThat(review.reason()).startsWith("chat no longer needs it: 1 needed for the current load");
    }

    @Test
    void aFreeGpuThatAServiceIsShortOfIsGivenToItFirst() {
        cluster();
        story.job("a", 8);
        EditedState state = new EditedState(story)
                .service(
                        "chat",
                        known -> known.observed(
                                story.rateRecord("chat", 15, 99), known.demand().event()));

        UnitReview review = LendingReview.of(scheduler, state.state(), story.now())
                .of(new GpuId("infer-g1"))
                .get(0);

        assertThat(review.cause()).isEqualTo(Cause.NEEDED);
        assertThat(review.reason())
                .isEqualTo("chat is short of 1 replica: 2 needed for the current load, 1 running; it starts 1 replica");
        assertThat(state.tick(scheduler)
                        .state()
                        .gpus()
                        .require(new GpuId("infer-g1"))
                        .owner()
                        .isActiveReplica())
                .isTrue();
    }

    @Test
    void transfersNameTheirDecisionAndTheTimeThatIsLeft() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1);
        nextPlan();
        Decision lend = story.last().stream()
                .filter(decision -> decision.action() instanceof Action.Lend)
                .findFirst()
                .orElseThrow();
        String gpu = lend.action().gpus().get(0).value();

        UnitReview binding = review(gpu);
        story.settled();
        UnitReview lent = review(gpu);
        story.rate("chat", 40);
        UnitReview releasing = review(gpu);

        String borrower = lend.action().target();
        assertThat(binding.reason())
                .isEqualTo(
                        "it is being bound to job %s by decision %s, in at most 60 s".formatted(borrower, lend.id()));
        assertThat(binding.cause()).isEqualTo(Cause.IN_TRANSFER);
        assertThat(lent.reason())
                .startsWith("it is lent to %s by decision %s, for another 600 s".formatted(borrower, lend.id()));
        assertThat(lent.cause()).isEqualTo(Cause.LENT);
        assertThat(releasing.reason())
                .matches("it is being released from job %s by decision .*, in at most 45 s".formatted(borrower));
        assertThat(releasing.cause()).isEqualTo(Cause.IN_TRANSFER);
    }

    @Test
    void aJobThatWasChangedAShortTimeAgoGetsNothingMore() {
        with("min-hold", "PT5M");
        cluster();
        story.job("a", 4);
        nextPlan();
        story.settled().progress("a", JobPhase.RUNNING).settled();
        nextPlan();

        UnitReview review = review("infer-g1");

        assertThat(review.cause()).isEqualTo(Cause.NOT_PLANNED);
        assertThat(review.reason())
                .isEqualTo(
                        "policy deepboot gives it to no job: a was changed a short time ago, and no plan changes it for"
                                + " another 240 s (scheduler.min-hold is 300 s)");
        assertIsNotLent("infer-g1");
        for (int i = 0; i < 4; i++) {
            story.progress("a", JobPhase.RUNNING);
            nextPlan();
        }

        assertThat(story.decisions())
                .anyMatch(decision -> decision.action() instanceof Action.Lend lend
                        && lend.gpus().stream().anyMatch(gpu -> gpu.value().startsWith("infer")));
    }

    @Test
    void aJobThatIsBeingChangedIsNamedWithItsDecision() {
        cluster();
        story.job("a", 4);
        nextPlan();
        Decision resize = story.last().get(0);

        assertThat(review("infer-g3").reason())
                .isEqualTo("policy deepboot gives it to no job: a is being changed by decision " + resize.id());
    }

    @Test
    void aJobThatIsTooLargeAndOneThatHasAllAreNamed() {
        cluster();
        story.rigidJob("big", 8).rigidJob("small", 1);
        nextPlan();
        story.settled().progress("small", JobPhase.RUNNING).settled();

        assertReview(
                "infer-g3",
                Cause.NOT_PLANNED,
                "policy deepboot gives it to no job: big needs 8 GPUs at once, and training may use 4; small gets"
                        + " the 1 GPU that it can use");
        assertIsNotLent("infer-g3");

        story.rigidJob("third", 2);

        assertThat(List.of("infer-g1", "infer-g2", "infer-g3"))
                .filteredOn(gpu -> review(gpu).cause() == Cause.NEXT_PLAN)
                .hasSize(2);
    }

    @Test
    void aPolicyThatWeighsSizesSaysWhatOneMoreGpuWouldCome() {
        cluster();
        story.job("a", 4);
        nextPlan();
        story.settled().progress("a", JobPhase.RUNNING).settled();
        long size = story.job("a").gpus();
        assertThat(size).isLessThan(4);

        UnitReview review = review("infer-g3");

        assertThat(review.cause()).isIn(Cause.NOT_PLANNED, Cause.NEXT_PLAN);
    }

    @Test
    void theRuleThatAJobMayAtMostDoubleIsNamedWhereItLeavesAGpuIdle() {
        cluster();
        story.job("a", 4);

        assertReview(
                "infer-g1",
                Cause.NOT_PLANNED,
                "policy deepboot gives it to no job: a gets 1 of at most 4 GPUs, not 2, because a may use at most 1 GPU now:"
                        + " it has not run yet, and a job may at most double the GPUs it has run on");

        nextPlan();
        story.settled().progress("a", JobPhase.RUNNING).settled();

        assertReview(
                "infer-g3",
                Cause.NOT_PLANNED,
                "policy deepboot gives it to no job: a gets 2 of at most 4 GPUs, not 3, because a may use at most 2 GPUs now:"
                        + " a job may at most double the GPUs it has run on (1)");
        assertIsNotLent("infer-g3");
    }

    @Test
    void ofManyJobsOnlySomeAreNamed() {
        cluster();
        for (int i = 0; i < 5; i++) {
            story.rigidJob("big-" + i, 8);
        }

        assertThat(review("infer-g3").reason())
                .startsWith("policy deepboot gives it to no job: big-0 needs 8 GPUs")
                .endsWith("; and 2 more jobs");
    }

    @Test
    void aLimitOnLoansNamesItsSettingAndTheWayOut() {
        with("max-loans-per-minute", "0");
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1);

        List<String> vetoed = LendingReview.of(scheduler, story.state(), story.now()).inference().stream()
                .filter(review -> review.cause() == Cause.LIMIT)
                .map(UnitReview::reason)
                .toList();

        assertThat(vetoed)
                .singleElement()
                .satisfies(reason -> assertThat(reason)
                        .matches(
                                "the plan gives it to [ab], which does not get it: 1 new loan would begin, but only 0 may begin now:"
                                        + " scheduler.max-loans-per-minute is 0 \\(1 min between plans\\); wait for the next"
                                        + " plan, or raise it"));
        assertIsLent(scheduler(Map.of("max-loans-per-minute", "1")), "infer-g1");
    }

    @Test
    void aLimitOnTransfersSaysWhatIsOnTheWay() {
        with("max-transfers", "1");
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1).rigidJob("c", 1);
        nextPlan();

        List<String> vetoed = LendingReview.of(scheduler, story.state(), story.now()).inference().stream()
                .filter(review -> review.cause() == Cause.LIMIT)
                .map(UnitReview::reason)
                .toList();

        assertThat(vetoed)
                .singleElement()
                .satisfies(reason -> assertThat(reason)
                        .endsWith(
                                "1 new loan would begin, but only 0 may begin now: scheduler.max-transfers is 1, and 1 GPU is in"
                                        + " transfer; wait until transfers end, or raise it"));
    }

    @Test
    void aJobThatWaitsForOtherGpusSaysForWhich() {
        ScriptedPolicy policy = new ScriptedPolicy();
        scheduler = new Scheduler(policy, SchedulerSettings.DEFAULTS);
        story = new Scenario(scheduler);
        cluster();
        story.rigidJob("a", 2).job("other", 2);
        EditedState state = new EditedState(story).owner("train-g0", new Owner.Training(new JobId("other")));
        policy.propose(
                new Plan(Map.of(new JobId("a"), List.of(new GpuId("infer-g1"), new GpuId("train-g0"))), Map.of()));

        UnitReview review = LendingReview.of(scheduler, state.state(), story.now())
                .of(new GpuId("infer-g1"))
                .get(0);

        assertThat(review.cause()).isEqualTo(Cause.PLANNED);
        assertThat(review.reason())
                .isEqualTo("the plan gives it to a, which waits for 1 other GPU of the plan: train-g0 (training)");
    }

    @Test
    void adviceIsDistinguishedFromDecisions() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1).control(ControlCommand.Kind.ADVISORY_ON);

        UnitReview review = review("infer-g1");

        assertThat(review.cause()).isEqualTo(Cause.ADVICE);
        assertThat(review.reason())
                .startsWith(
                        "decisions are only advice, until 'lendstream approve' or 'lendstream advisory off' puts them in force: "
                                + "b starts on 1 GPU: ");

        story.control(ControlCommand.Kind.ADVISORY_OFF);

        assertIsLent("infer-g1");
    }

    @Test
    void aBacklogIsWorkedThroughFirst() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1);
        Scheduler behind = scheduler.decidingFrom(Optional.of(story.now().plusSeconds(30)));

        assertThat(review(behind, "infer-g1").cause()).isEqualTo(Cause.NO_PLAN);
        assertThat(review(behind, "infer-g1").reason())
                .startsWith("no training plan is made: the scheduler took over a backlog");
    }

    @Test
    void instancesSayWhatSmallJobsAreThere() {
        story.migNode("cut", Pool.INFERENCE, "3g.40gb@0 1g.10gb@4", "")
                .service("chat", 0)
                .rate("chat", 0)
                .rigidJob("big", 4);

        assertThat(LendingReview.of(scheduler, story.state(), story.now()).of(new GpuId("cut-g0")))
                .hasSize(2)
                .allSatisfy(review -> assertThat(review.reason())
                        .isEqualTo("no waiting job runs on one MIG instance and declares the memory that it needs"));
        assertReview("cut-g1", Cause.CUT, "it is in MIG mode but has no MIG instance");

        story.smallJob("large", 1, 45);

        assertReview("cut-g0/4:1", Cause.NOT_PLANNED, "it has 9.5 GiB, and every waiting job needs at least 45.0 GiB");
        assertIsNotLent("cut-g0/0:4");

        story.smallJob("small", 1, 20);

        assertIsLent("cut-g0/0:4");
    }

    @Test
    void instancesCountTowardsTheShare() {
        with("max-share-lent", "0.2");
        story.migNode("cut", Pool.INFERENCE, "3g.40gb@0 1g.10gb@4")
                .service("chat", 0)
                .rate("chat", 0)
                .smallJob("small", 1, 20);

        UnitReview review = review("cut-g0/0:4");

        assertThat(review.reason())
                .startsWith("scheduler.max-share-lent is 0.2: 0.12 inference GPUs may still be lent");
    }

    @Test
    void aTrainingGpuIsReviewedToo() {
        cluster();
        story.job("a", 1);
        assertThat(review("train-g0").cause()).isIn(Cause.NEXT_PLAN);
        nextPlan();
        story.settled();

        assertReview("train-g0", Cause.IN_USE, "a trains on it, and it belongs to the training pool");
    }

    @Test
    void aGpuThatIsNotThereHasNoReview() {
        cluster();

        assertThat(LendingReview.of(scheduler, story.state(), story.now()).of(new GpuId("none")))
                .isEmpty();
    }

    /** What becomes of idle units in a step, by unit: the kind of the decision. */
    private static Map<GpuId, String> kinds(List<Decision> decisions) {
        Map<GpuId, String> kinds = new HashMap<>();
        for (Decision decision : decisions) {
            decision.action()
                    .gpus()
                    .forEach(gpu -> kinds.putIfAbsent(gpu, decision.action().kind()));
        }
        return kinds;
    }

    @Test
    void inAnyHistoryAnIdleUnitIsGivenAwayByAPlanExactlyIfTheReviewSaysSo() {
        int plans = 0;
        for (long seed = 1; seed <= 24; seed++) {
            RandomHistory history = RandomHistory.of(seed);
            ClusterState state = ClusterState.empty(Scenario.DOMAIN);
            for (DomainEvent event : history.log()) {
                ClusterState before = state;
                Step step = history.scheduler().step(before, event);
                state = step.state();
                boolean isPlanned = event.event().isTick()
                        && before.nextPlanAt()
                                .filter(at -> !at.isAfter(event.at()))
                                .isPresent();
                if (isPlanned) {
                    plans++;
                    assertAgrees(seed, event, before, step, history.scheduler());
                }
            }
        }
        assertThat(plans).isGreaterThan(100);
    }

    private static void assertAgrees(
            long seed, DomainEvent event, ClusterState before, Step step, Scheduler scheduler) {
        Map<GpuId, String> given = kinds(step.decisions());
        for (UnitReview review : LendingReview.of(scheduler, before, event.at()).inference()) {
            Optional<GpuState> unit = before.gpus().get(review.unit());
            if (unit.isPresent() && (unit.get().isFree() || unit.get().owner().isSleeping())) {
                String kind = given.getOrDefault(review.unit(), "none");
                boolean isSaid =
                        List.of(Cause.NEXT_PLAN, Cause.ADVICE, Cause.NEEDED).contains(review.cause());
                assertThat(isSaid)
                        .as("seed %d, event %d: %s was %s", seed, event.sequence(), review, kind)
                        .isEqualTo(!kind.equals("none"));
            }
        }
    }
}

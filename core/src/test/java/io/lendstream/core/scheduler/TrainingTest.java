package io.lendstream.core.scheduler;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.QueuePosition;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** When training is planned, what the policy sees, which part of its plan is adopted, and how jobs move towards it. */
class TrainingTest {
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final DecisionId BEFORE = new DecisionId(Scenario.DOMAIN, 1, 1);

    private final ScriptedPolicy policy = new ScriptedPolicy();
    private final Map<String, String> vetoes = new TreeMap<>();
    private final StepListener listener = new StepListener() {
        @Override
        public void planned(ClusterView view, Plan plan) {
            seen = plan;
        }

        @Override
        public void vetoed(JobId job, String why) {
            vetoes.put(job.value(), why);
        }
    };

    private Plan seen = new Plan(Map.of(), Map.of());
    private Scheduler scheduler = new Scheduler(policy, SchedulerSettings.DEFAULTS);
    private Scenario story = begun();
    private EditedState state = new EditedState(story);
    private Step step;

    /** Two training GPUs, four of inference of which one serves, and three queued elastic jobs. */
    private Scenario begun() {
        return new Scenario(scheduler)
                .node("train", Pool.TRAINING, 2)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled()
                .job("a", 4)
                .job("b", 4)
                .job("c", 4)
                .rate("chat", 1);
    }

    private void settings(String key, String value) {
        scheduler = new Scheduler(policy, SchedulerSettings.of(Map.of(key, value)));
    }

    private static List<GpuId> gpus(String... names) {
        return Arrays.stream(names).map(GpuId::new).toList();
    }

    private void trainsOn(String job, String... names) {
        for (String name : names) {
            state.owner(
                    name,
                    name.startsWith("train")
                            ? new Owner.Training(new JobId(job))
                            : new Owner.Lent(new JobId(job), BEFORE, state.now().plus(ofMinutes(10))));
        }
        state.job(job, known -> holding(known, state.now(), names).settled(Optional.empty()));
    }

    /** Holds GPUs since a time, by a decision that is being carried out. */
    private static JobState holding(JobState job, Instant since, String... names) {
        Allocation allocation = names.length == 0
                ? Allocation.suspended(Mechanism.AFE)
                : new Allocation(gpus(names), 64, 1, 1.0, Mechanism.AFE);
        return job.allocated(allocation, Optional.empty(), BEFORE, since.plusSeconds(60), since)
                .aiming(gpus(names));
    }

    private void aimsAt(String job, String... names) {
        state.job(job, known -> known.aiming(gpus(names)));
    }

    /** The policy is asked now and proposes that each job has these GPUs. */
    private void planned(Map<String, List<GpuId>> targets) {
        planned(targets, Optional.empty());
    }

    private void planned(Map<String, List<GpuId>> targets, Optional<Instant> holdsUntil) {
        Map<JobId, List<GpuId>> byJob = new TreeMap<>();
        Map<JobId, PlanReason> reasons = new TreeMap<>();
        targets.forEach((job, gpus) -> {
            byJob.put(new JobId(job), gpus);
            reasons.put(new JobId(job), new PlanReason("the policy wants it for " + job, Map.of("wanted", 1.0)));
        });
        policy.propose(new Plan(byJob, reasons, Map.of(), List.of(), holdsUntil));
        step = state.planAt(state.now()).tick(scheduler, listener);
    }

    /** A tick at which no plan is due. */
    private void ticked() {
        step = state.planAt(state.now().plus(ofMinutes(30))).tick(scheduler, listener);
    }

    private JobState job(String name) {
        return step.state().jobs().require(new JobId(name));
    }

    private Owner owner(String gpu) {
        return step.state().gpus().require(new GpuId(gpu)).owner();
    }

    private List<String> kinds() {
        return step.decisions().stream()
                .map(decision ->
                        decision.action().kind() + " " + decision.action().target())
                .toList();
    }

    private Decision only() {
        assertThat(step.decisions()).hasSize(1);
        return step.decisions().get(0);
    }

    private Instant minutes(int count) {
        return state.now().plus(ofMinutes(count));
    }

    private ClusterView view() {
        return policy.shown().get(policy.shown().size() - 1);
    }

    private static List<String> names(ClusterView view) {
        return view.gpus().stream().map(gpu -> gpu.gpuId().value()).toList();
    }

    // When it is planned.

    @Test
    void theFirstPlanIsAtTheNextMultipleOfThePeriodAndNotBefore() {
        Scenario fresh = new Scenario(scheduler).job("a", 4).after(ofSeconds(59));
        assertThat(fresh.state().nextPlanAt()).contains(Scenario.START.plusSeconds(60));
        assertThat(policy.shown()).isEmpty();

        fresh.after(ofSeconds(1));

        assertThat(policy.shown()).hasSize(1);
        assertThat(fresh.state().nextPlanAt()).contains(Scenario.START.plusSeconds(120));
    }

    @Test
    void withoutJobsThePolicyIsNotAskedAndTheNextPlanIsAnHourLater() {
        Scenario idle = new Scenario(scheduler).after(ofMinutes(1));

        assertThat(policy.shown()).isEmpty();
        assertThat(idle.state().nextPlanAt())
                .contains(Scenario.START.plusSeconds(60).plus(ofHours(1)));
    }

    @Test
    void aPlanThatHoldsOnIsNotMadeAgainBeforeItsEndButAfterAnHourAtTheLatest() {
        planned(Map.of(), Optional.of(minutes(10)));
        assertThat(step.state().nextPlanAt()).contains(minutes(10));

        planned(Map.of(), Optional.of(minutes(10).plusMillis(1)));
        assertThat(step.state().nextPlanAt()).contains(minutes(11));

        planned(Map.of(), Optional.of(minutes(90)));
        assertThat(step.state().nextPlanAt()).contains(minutes(60));

        planned(Map.of());
        assertThat(step.state().nextPlanAt()).contains(minutes(1));
    }

    @Test
    void aPlanThatWasNotAdoptedAsAWholeIsMadeAgainAtTheNextTime() {
        settings("max-loans-per-minute", "0");

        planned(Map.of("a", gpus("infer-g1")), Optional.of(minutes(10)));

        assertThat(vetoes).containsExactly(Map.entry("a", perMinute(1, 0, 0, 1)));
        assertThat(step.state().nextPlanAt()).contains(minutes(1));
    }

    @Test
    void aPlanBesideAJobThatIsBeingChangedIsMadeAgainAtTheNextTime() {
        state.owner("train-g0", new Owner.Training(new JobId("a")))
                .job("a", job -> holding(job, state.now(), "train-g0"));

        planned(Map.of(), Optional.of(minutes(10)));

        assertThat(view().fixed()).containsExactly(new JobId("a"));
        assertThat(step.state().nextPlanAt()).contains(minutes(1));
    }

    @Test
    void afterAChangeThePlanIsMadeSoonThoughTheLastOneHeldOn() {
        state.planAt(minutes(30));

        Step idle = state.tick(scheduler);
        assertThat(idle.state().nextPlanAt()).contains(minutes(30));

        Step more = state.step(scheduler, story.jobRecord("d", 2, true));
        assertThat(more.state().nextPlanAt()).contains(minutes(1));
    }

    @Test
    void noPlanIsMadeWhileTheDomainIsFrozenAndTheReasonRestsOnTheRates() {
        state.mode(new Mode(true, false, false));

        planned(Map.of("a", gpus("train-g0")));

        Decision hold = only();
        assertThat(hold.action()).isEqualTo(new Action.Hold(Optional.empty(), Optional.empty()));
        assertThat(hold.reason().code()).isEqualTo("held");
        assertThat(hold.reason().text()).isEqualTo("no training plan is made: the domain is frozen");
        assertThat(hold.deadline()).isEqualTo(state.now());
        assertThat(hold.reason().inputs())
                .containsExactly(
                        state.state().services().require(CHAT).demand().event(),
                        state.state().eventSequence() + 1);
        assertThat(policy.shown()).isEmpty();
        assertThat(step.state().nextPlanAt()).contains(minutes(1));
    }

    @Test
    void noPlanIsMadeInAQuietWindow() {
        settings("quiet-windows", "00:00-01:00");

        planned(Map.of("a", gpus("train-g0")));

        assertThat(only().reason().text())
                .isEqualTo("no training plan is made: the quiet window 00:00-01:00 UTC is open");
        assertThat(policy.shown()).isEmpty();
    }

    @Test
    void whileDemandIsStaleThePlanLendsNothingButMovesTrainingsOwnGpus() {
        state.later(ofSeconds(46));

        planned(Map.of("a", gpus("train-g0"), "b", gpus("infer-g1")));

        assertThat(kinds()).containsExactly("hold ", "resize a");
        Decision hold = step.decisions().get(0);
        assertThat(hold.reason().code()).isEqualTo("stale");
        assertThat(hold.reason().text())
                .isEqualTo(
                        "no further GPU is lent: the request rates of chat are 46 s old (limit: 45 s, 3 windows of 15 s)");
        assertThat(vetoes).containsExactly(Map.entry("b", hold.reason().text()));
        assertThat(owner("infer-g1")).isInstanceOf(Owner.Free.class);
    }

    @Test
    void staleDemandIsNoNewsWhereNothingIsLentAnyway() {
        settings("lending", "false");
        state.later(ofSeconds(46));

        planned(Map.of("a", gpus("train-g0")));

        assertThat(kinds()).containsExactly("resize a");
    }

    @Test
    void theListenerSeesThePlan() {
        planned(Map.of("a", gpus("train-g0")));

        assertThat(seen.targets()).containsExactly(Map.entry(new JobId("a"), gpus("train-g0")));
    }

    // What the policy sees.

    @Test
    void thePolicySeesTrainingsGpusAndWhatInferenceDoesNotUse() {
        trainsOn("a", "train-g0", "infer-g1");
        state.owner("infer-g2", new Owner.Sleeping(CHAT));
        state.owner("infer-g3", new Owner.Protected(CHAT, minutes(1), 0));

        planned(Map.of());

        assertThat(names(view())).containsExactly("infer-g1", "infer-g2", "train-g0", "train-g1");
        assertThat(view().nodes()).isEqualTo(2);
        assertThat(view().gpusPerNode()).isEqualTo(4);
        assertThat(view().now()).isEqualTo(state.now());
        assertThat(view().fixed()).isEmpty();
        assertThat(view().jobs()).extracting(each -> each.job().value()).containsExactly("a", "b", "c");
        assertThat(view().holding()).extracting(each -> each.job().value()).containsExactly("a");
    }

    @Test
    void whereNothingMayBeLentThePolicySeesTrainingsGpusOnly() {
        settings("lending", "false");
        trainsOn("a", "infer-g1");

        planned(Map.of());

        assertThat(names(view())).containsExactly("train-g0", "train-g1");
        assertThat(counted()).isEqualTo("2 GPUs for 3 jobs");
    }

    /** How many GPUs a policy that counts them finds in the last view. */
    private String counted() {
        Map<JobId, PlanReason> reasons = Policies.parse("deepboot").plan(view()).reasons();
        Map<String, Double> numbers = reasons.values().iterator().next().numbers();
        return "%.0f GPUs for %.0f jobs".formatted(numbers.get("gpus"), numbers.get("jobs"));
    }

    @Test
    void allThatMayBeGivenIsCountedWhereAllOfInferenceMayBeLent() {
        planned(Map.of());

        assertThat(names(view())).hasSize(5);
        assertThat(counted()).isEqualTo("5 GPUs for 3 jobs");
    }

    @Test
    void ofInferencesIdleGpusOnlyAShareMayBeLentAndThoseWithSleepingReplicasStay() {
        settings("max-share-lent", "0.5");
        state.owner("infer-g1", new Owner.Sleeping(CHAT));

        planned(Map.of());

        assertThat(names(view())).containsExactly("infer-g2", "infer-g3", "train-g0", "train-g1");
        assertThat(counted()).isEqualTo("4 GPUs for 3 jobs");
    }

    @Test
    void theShareIsRoundedDown() {
        settings("max-share-lent", "0.49");

        planned(Map.of());

        assertThat(names(view())).containsExactly("infer-g1", "train-g0", "train-g1");
        assertThat(counted()).isEqualTo("3 GPUs for 3 jobs");
    }

    @Test
    void loansCountTowardsTheShareAndAreStillTrainings() {
        settings("max-share-lent", "0.5");
        trainsOn("a", "infer-g1");

        planned(Map.of());

        assertThat(names(view())).containsExactly("infer-g1", "infer-g2", "train-g0", "train-g1");
        assertThat(counted()).isEqualTo("4 GPUs for 3 jobs");
    }

    @Test
    void whereMoreIsLentThanTheShareNothingElseMayBe() {
        settings("max-share-lent", "0.25");
        trainsOn("a", "infer-g1", "infer-g2");

        planned(Map.of());

        assertThat(names(view())).containsExactly("infer-g1", "infer-g2", "train-g0", "train-g1");
        assertThat(counted()).isEqualTo("4 GPUs for 3 jobs");
    }

    @Test
    void whatCannotBeReachedIsNotSeenNorCountedForTheShare() {
        settings("max-share-lent", "0.5");
        story.node("infer-far", Pool.INFERENCE, 2);
        unavailable("infer-far", Pool.INFERENCE, 2);
        state = new EditedState(story);

        planned(Map.of());

        assertThat(names(view())).containsExactly("infer-g1", "infer-g2", "train-g0", "train-g1");
        assertThat(counted()).isEqualTo("4 GPUs for 3 jobs");
        assertThat(view().nodes()).isEqualTo(3);
    }

    private void unavailable(String node, Pool pool, int count) {
        List<Gpu> gpus = IntStream.range(0, count)
                .mapToObj(i -> Gpu.whole(new GpuId(node + "-g" + i), i, "test GPU", 80L << 30))
                .toList();
        story.tell(
                new Node(new NodeId(node), Scenario.DOMAIN, pool, "boot-1", story.now(), NodeStatus.UNAVAILABLE, gpus));
    }

    @Test
    void jobsThatWereChangedWithinTheHoldAreFixed() {
        settings("min-hold", "PT5M");
        trainsOn("a", "train-g0");
        trainsOn("b", "train-g1");
        state.job(
                "a",
                job -> holding(job, state.now().minusSeconds(299), "train-g0").settled(Optional.empty()));
        state.job(
                "b",
                job -> holding(job, state.now().minusSeconds(300), "train-g1").settled(Optional.empty()));

        planned(Map.of());

        assertThat(changedAt("a")).isEqualTo(state.now().minusSeconds(299));
        assertThat(view().fixed()).containsExactly(new JobId("a"));
    }

    private Instant changedAt(String job) {
        return job(job).usage().attainedUpTo();
    }

    @Test
    void aJobThatHasEndedIsNotFixedWhileItsLastChangeIsInTransfer() {
        state = new EditedState(story.tell(finished("a")));
        state.owner("train-g0", new Owner.Training(new JobId("a")));
        state.job("a", job -> holding(job, state.now(), "train-g0"));
        planned(Map.of());

        assertThat(view().fixed()).isEmpty();
    }

    private TrainingProgress finished(String job) {
        return new TrainingProgress(
                new JobId(job),
                Scenario.DOMAIN,
                story.now(),
                JobPhase.FINISHED,
                1,
                Optional.empty(),
                new TrainingProgress.Parallelism(1, 1, 64, 0),
                TrainingProgress.StepTiming.NOT_MEASURED,
                TrainingProgress.GradientStatistics.NOT_MEASURED);
    }

    @Test
    void elasticJobsAreThoughtToBeChangedInPlaceWhereThatIsSwitchedOn() {
        story.rigidJob("rigid", 2);
        state = new EditedState(story);
        planned(Map.of());
        assertThat(cost("a")).isEqualTo(ofSeconds(3));
        assertThat(cost("rigid")).isEqualTo(ofSeconds(24));

        settings("afe", "false");
        planned(Map.of());
        assertThat(cost("a")).isEqualTo(ofSeconds(24));
    }

    /** What a change costs a job in the policy's eyes. */
    private Duration cost(String name) {
        JobView job = view().jobs().stream()
                .filter(each -> each.job().value().equals(name))
                .findFirst()
                .orElseThrow();
        return job.costs().next();
    }

    // The part that is adopted.

    @Test
    void aPlanThatLeavesAJobAsItIsChangesNothingOfIt() {
        trainsOn("a", "train-g0");

        planned(Map.of("a", gpus("train-g0")));

        assertThat(step.decisions()).isEmpty();
        assertThat(step.changed().jobs()).isEmpty();
    }

    @Test
    void wherePolicyKeepsJobsInQueuesTheirStandingIsKept() {
        QueuePosition second = new QueuePosition(1, state.now(), ofSeconds(7), Optional.empty());
        policy.propose(new Plan(Map.of(), Map.of(), Map.of(new JobId("b"), second), List.of(), Optional.empty()));

        step = state.planAt(state.now()).tick(scheduler, listener);

        assertThat(job("b").standing()).contains(second);
        assertThat(job("a").standing()).isEmpty();
    }

    /** Why so many loans are too many for the limit per minute. */
    private static String perMinute(int loans, int most, int limit, int minutes) {
        return "%s would begin, but only %d may begin now: scheduler.max-loans-per-minute is %d (%d min between plans); wait for the next plan, or raise it"
                .formatted(loans == 1 ? "1 new loan" : loans + " new loans", most, limit, minutes);
    }

    @Test
    void noMoreIsLentThanMayBeInAPlanAndASmallerLoanStillFits() {
        settings("max-loans-per-minute", "3");

        planned(Map.of("a", gpus("infer-g1", "infer-g2"), "b", gpus("infer-g2", "infer-g3"), "c", gpus("infer-g3")));

        assertThat(kinds()).containsExactly("lend a", "lend c");
        assertThat(vetoes).containsExactly(Map.entry("b", perMinute(4, 3, 3, 1)));
    }

    @Test
    void loansPerMinuteAddUpOverALongPeriodAndAMinuteIsTheLeast() {
        settings("max-loans-per-minute", "1");
        policy.planEvery(ofMinutes(2));
        planned(Map.of("a", gpus("infer-g1", "infer-g2")));
        assertThat(kinds()).containsExactly("lend a");

        policy.planEvery(ofSeconds(30));
        planned(Map.of("a", gpus("infer-g1"), "b", gpus("infer-g2")));
        assertThat(kinds()).containsExactly("lend a");
        assertThat(vetoes).containsEntry("b", perMinute(2, 1, 1, 1));
    }

    @Test
    void whatIsOnItsWayLeavesLessRoomForLoans() {
        settings("max-transfers", "2");
        state.owner(
                "infer-g3",
                new Owner.Binding(new Tenant.Job(new JobId("c")), BEFORE, minutes(1), Optional.of(minutes(10)), 1));
        state.job("c", job -> holding(job, state.now(), "infer-g3"));

        planned(Map.of("a", gpus("infer-g1", "infer-g2")));

        assertThat(vetoes)
                .containsExactly(Map.entry(
                        "a",
                        "2 new loans would begin, but only 1 may begin now: scheduler.max-transfers is 2, and 1 GPU is in transfer;"
                                + " wait until transfers end, or raise it"));
    }

    @Test
    void loansThatAJobHasAlreadyAreNotCountedAgain() {
        settings("max-loans-per-minute", "1");
        trainsOn("a", "infer-g1", "infer-g2");

        planned(Map.of("a", gpus("infer-g1", "infer-g2", "infer-g3")));

        assertThat(kinds()).containsExactly("lend a");
        assertThat(only().action().gpus()).isEqualTo(gpus("infer-g3"));
    }

    @Test
    void aJobWhoseProgressIsStaleIsLentNothingMore() {
        trainsOn("a", "train-g0");
        story.progress("a", JobPhase.RUNNING).after(ofSeconds(301)).rate("chat", 1);
        policy.shown().clear();
        state = new EditedState(story);
        trainsOn("a", "train-g0");

        planned(Map.of("a", gpus("infer-g1", "train-g0"), "b", gpus("infer-g2")));

        assertThat(vetoes)
                .containsExactly(
                        Map.entry(
                                "a",
                                "the last progress report of a is 301 s old (limit: 300 s); it gets more loans after its next report"));
        assertThat(kinds()).containsExactly("lend b");
        assertThat(job("a").target()).isEqualTo(gpus("train-g0"));
    }

    @Test
    void aJobThatIsVetoedNoLongerAimsAtItsOldTarget() {
        settings("max-loans-per-minute", "0");
        trainsOn("a", "train-g0");
        aimsAt("a", "train-g0", "train-g1");

        planned(Map.of("a", gpus("infer-g1", "train-g0")));

        assertThat(step.decisions()).isEmpty();
        assertThat(job("a").target()).isEqualTo(gpus("train-g0"));
        assertThat(owner("train-g1")).isInstanceOf(Owner.Free.class);
    }

    @Test
    void aJobThatThePlanLeavesOutNoLongerAimsAtItsOldTarget() {
        trainsOn("a", "train-g0");
        aimsAt("a", "train-g0", "train-g1");

        planned(Map.of());

        assertThat(step.decisions()).isEmpty();
        assertThat(job("a").target()).isEqualTo(gpus("train-g0"));
    }

    @Test
    void aJobOnAnInstanceStaysThereWhileThePolicyHasNothingForIt() {
        story.migNode("cut", Pool.INFERENCE, "1g.10gb@0").smallJob("small", 1, 8);
        state = new EditedState(story);
        onInstance("small", "cut-g0/0:1");

        planned(Map.of("small", List.of()));

        assertThat(step.decisions()).isEmpty();
        assertThat(job("small").target()).isEqualTo(gpus("cut-g0/0:1"));
        assertThat(view().holding()).isEmpty();
    }

    private void onInstance(String job, String unit) {
        state.owner(unit, new Owner.Lent(new JobId(job), BEFORE, minutes(10)));
        state.job(
                job,
                known -> known.allocated(
                                new Allocation(gpus(unit), 64, 1, 1.0, Mechanism.AFE),
                                Optional.of(9.5 / 80),
                                BEFORE,
                                minutes(1),
                                state.now())
                        .aiming(gpus(unit))
                        .settled(Optional.empty()));
    }

    // How jobs move.

    @Test
    void aChangeNamesItsReasonAndTheJobsGpusAndRestsOnTheJobsLatestEvent() {
        trainsOn("a", "train-g0");
        state.job(
                "a",
                job -> holding(job, state.now().minusSeconds(100), "train-g0").settled(Optional.empty()));

        planned(Map.of("a", gpus("train-g0", "train-g1")));

        Decision resize = only();
        assertThat(((Action.Resize) resize.action()).gpus()).isEqualTo(gpus("train-g1"));
        assertThat(((Action.Resize) resize.action()).allocation().gpus()).isEqualTo(gpus("train-g0", "train-g1"));
        assertThat(resize.deadline()).isEqualTo(state.now().plusSeconds(60));
        assertThat(resize.reason().code()).isEqualTo("plan");
        assertThat(resize.reason().text()).isEqualTo("the policy wants it for a");
        assertThat(resize.reason().numbers())
                .containsOnly(
                        Map.entry("gpusBefore", 1.0),
                        Map.entry("gpusAfter", 2.0),
                        Map.entry("changes", 0.0),
                        Map.entry("attainedGpuSeconds", 100.0),
                        Map.entry("wanted", 1.0));
        assertThat(resize.reason().inputs())
                .containsExactly(job("a").lastEvent(), state.state().eventSequence() + 1);
    }

    @Test
    void whatAPlanLeftUndoneIsDoneOnceTheGpusAreFree() {
        trainsOn("a", "train-g0");
        aimsAt("a", "train-g0", "train-g1");

        ticked();

        assertThat(kinds()).containsExactly("resize a");
        assertThat(only().reason().text()).isEqualTo("a: next step of the planned move to 2 GPUs");
        assertThat(step.state().nextPlanAt()).contains(minutes(30));
    }

    @Test
    void theReasonSaysThatGpusJustBecameFreeWhereThisStepFreedThem() {
        trainsOn("a", "train-g0");
        Owner leaving = new Owner.Releasing(
                new Tenant.Job(new JobId("b")), BEFORE, state.now().plusSeconds(45), minutes(2));
        state.owner("train-g1", leaving);
        aimsAt("a", "train-g0", "train-g1");
        StepBuilder builder = state.draft();
        builder.own(new GpuId("train-g1"), new Owner.Free());

        new Training(builder, policy, scheduler.settings()).carryOut(Map.of());

        step = builder.finished();
        assertThat(only().reason().text())
                .isEqualTo("a: next step of the planned move to 2 GPUs (GPUs just became free)");
    }

    @Test
    void noJobMovesWhileTheDomainIsFrozen() {
        aimsAt("a", "train-g0");
        state.mode(new Mode(true, false, false));

        ticked();

        assertThat(step.decisions()).isEmpty();
        assertThat(job("a").target()).isEqualTo(gpus("train-g0"));
    }

    @Test
    void aTargetThatCannotBeReachedAnyMoreIsGivenUpAndPlannedAgainSoon() {
        for (Owner taken : List.of(
                new Owner.Serving(CHAT),
                new Owner.Protected(CHAT, minutes(1), 0),
                new Owner.Binding(new Tenant.Service(CHAT), BEFORE, minutes(1), Optional.empty(), 1),
                new Owner.Quarantined("for the test"))) {
            state = new EditedState(story);
            trainsOn("a", "train-g0");
            aimsAt("a", "infer-g1", "train-g0");
            state.owner("infer-g1", taken);

            ticked();

            assertThat(job("a").target()).as("%s", taken).isEqualTo(gpus("train-g0"));
            assertThat(kinds()).as("%s", taken).doesNotContain("lend a");
            assertThat(step.state().nextPlanAt()).as("%s", taken).contains(minutes(1));
        }
    }

    @Test
    void aTargetThatIsGoneOrOnANodeThatIsAwayIsGivenUp() {
        aimsAt("a", "gone");
        ticked();
        assertThat(job("a").target()).isEmpty();
        assertThat(step.state().nextPlanAt()).contains(minutes(1));

        unavailable("train", Pool.TRAINING, 2);
        state = new EditedState(story);
        aimsAt("a", "train-g0");
        ticked();
        assertThat(job("a").target()).isEmpty();
        assertThat(step.decisions()).isEmpty();
    }

    @Test
    void aJobThatLosesGpusOnANodeThatIsNotReadyHasThatReason() {
        unavailable("train", Pool.TRAINING, 2);
        state = new EditedState(story);
        trainsOn("a", "infer-g1", "train-g0");

        planned(Map.of("a", gpus("infer-g1")));

        assertThat(kinds()).containsExactly("resize a");
        assertThat(only().reason().text()).isEqualTo("the policy wants it for a; node train is not ready");
    }

    @Test
    void aJobWaitsForGpusThatOthersAreAboutToLeave() {
        trainsOn("b", "train-g1");
        Tenant other = new Tenant.Job(new JobId("c"));
        for (Owner owner : List.of(
                new Owner.Releasing(other, BEFORE, minutes(1), minutes(2)),
                new Owner.Training(new JobId("b")),
                new Owner.Binding(other, BEFORE, minutes(1), Optional.empty(), 1))) {
            state.owner("train-g1", owner);
            aimsAt("a", "train-g0", "train-g1");

            ticked();

            assertThat(step.decisions()).as("%s", owner).isEmpty();
            assertThat(job("a").target()).as("%s", owner).isEqualTo(gpus("train-g0", "train-g1"));
            assertThat(step.state().nextPlanAt()).as("%s", owner).contains(minutes(30));
        }
    }

    @Test
    void aJobGivesItsLoansBackBeforeItTakesTrainingGpus() {
        trainsOn("a", "infer-g1", "infer-g2");

        planned(Map.of("a", gpus("infer-g1", "train-g0")));

        assertThat(kinds()).containsExactly("reclaim a");
        Action.Reclaim reclaim = (Action.Reclaim) only().action();
        assertThat(reclaim.gpus()).isEqualTo(gpus("infer-g2"));
        assertThat(reclaim.allocation().gpus()).isEqualTo(gpus("infer-g1"));
        assertThat(only().reason().text()).isEqualTo("the policy wants it for a; first it gives up 1 GPU");
        assertThat(owner("train-g0")).isInstanceOf(Owner.Free.class);
        assertThat(job("a").target()).isEqualTo(gpus("infer-g1", "train-g0"));
    }

    @Test
    void aJobThatOnlyGivesLoansBackIsDoneAtOnce() {
        trainsOn("a", "infer-g1", "infer-g2");

        planned(Map.of("a", gpus("infer-g1")));

        assertThat(kinds()).containsExactly("reclaim a");
        assertThat(job("a").target()).isEqualTo(gpus("infer-g1"));
    }

    @Test
    void theReasonsSayThatAJobThatShrinksGetsOtherGpus() {
        trainsOn("a", "train-g0", "train-g1");
        state.owner("infer-g1", new Owner.Sleeping(CHAT));

        planned(Map.of("a", gpus("infer-g1")));

        assertThat(step.decisions().stream().map(decision -> decision.reason().text()))
                .containsExactly(
                        "chat idles 1 replica: its GPU is free for a, which moves to other GPUs and shrinks from 2 to 1"
                                + " GPU",
                        "the policy wants it for a; it gets 1 other GPU; first it gives up 2 GPUs");
    }

    @Test
    void aRigidJobStopsWhileItMovesAndAnElasticOneGoesOnWithTheRest() {
        story.rigidJob("rigid", 2);
        state = new EditedState(story);
        trainsOn("rigid", "infer-g1", "infer-g2");
        planned(Map.of("rigid", gpus("infer-g1", "train-g0")));
        assertThat(((Action.Reclaim) only().action()).allocation().gpus()).isEmpty();
        assertThat(job("rigid").target()).isEqualTo(gpus("infer-g1", "train-g0"));

        state = new EditedState(story);
        trainsOn("a", "infer-g1");
        planned(Map.of("a", gpus("train-g0")));
        assertThat(((Action.Reclaim) only().action()).allocation().gpus()).isEmpty();
        assertThat(job("a").target()).isEqualTo(gpus("train-g0"));
    }

    @Test
    void aRigidJobThatKeepsAllItAskedForGoesOn() {
        story.rigidJob("rigid", 2);
        state = new EditedState(story);
        trainsOn("rigid", "infer-g1", "infer-g2", "infer-g3");

        planned(Map.of("rigid", gpus("infer-g1", "infer-g2", "train-g0")));

        assertThat(((Action.Reclaim) only().action()).allocation().gpus()).isEqualTo(gpus("infer-g1", "infer-g2"));
    }

    @Test
    void sleepingReplicasWherePlansWantAJobAreStoppedFirst() {
        trainsOn("a", "train-g0");
        state.owner("infer-g1", new Owner.Sleeping(CHAT));
        state.owner("infer-g2", new Owner.Sleeping(CHAT));

        planned(Map.of("a", gpus("infer-g1", "infer-g2", "train-g0")));

        assertThat(kinds()).containsExactly("idle chat");
        assertThat(only().action().gpus()).isEqualTo(gpus("infer-g1", "infer-g2"));
        assertThat(only().reason().code()).isEqualTo("plan");
        assertThat(only().reason().text())
                .isEqualTo("chat idles 2 replicas: their GPUs are free for a, which grows from 1 to 3 GPUs");
        assertThat(only().reason().numbers())
                .containsOnly(Map.entry("idled", 2.0), Map.entry("gpusBefore", 1.0), Map.entry("gpusAfter", 3.0));
        assertThat(only().reason().inputs())
                .containsExactly(
                        state.state().services().require(CHAT).demand().event(),
                        state.state().eventSequence() + 1);
        assertThat(owner("infer-g1")).isInstanceOf(Owner.Releasing.class);
        assertThat(job("a").allocation().gpus()).isEqualTo(gpus("train-g0"));
        assertThat(job("a").target()).hasSize(3);
    }

    @Test
    void aJobOnAnInstanceStaysThereUntilTheGpusForItAreFree() {
        story.migNode("cut", Pool.INFERENCE, "1g.10gb@0").smallJob("small", 2, 8);
        state = new EditedState(story);
        onInstance("small", "cut-g0/0:1");
        state.owner("infer-g1", new Owner.Sleeping(CHAT));

        planned(Map.of("small", gpus("infer-g1")));

        assertThat(kinds()).containsExactly("idle chat");
        assertThat(job("small").allocation().gpus()).isEqualTo(gpus("cut-g0/0:1"));
        assertThat(job("small").target()).isEqualTo(gpus("infer-g1"));
    }

    @Test
    void whatAJobThatIsOverHoldsReturnsAndTheReasonSaysSo() {
        story.tell(finished("a"));
        state = new EditedState(story);
        trainsOn("a", "train-g0", "train-g1");
        trainsOn("b", "infer-g1");

        ticked();

        assertThat(kinds()).containsExactly("resize a");
        assertThat(only().reason().code()).isEqualTo("over");
        assertThat(only().reason().text()).isEqualTo("a finished and releases 2 GPUs");
        assertThat(only().deadline()).isEqualTo(state.now().plusSeconds(45));
        assertThat(job("a").gpus()).isZero();
        assertThat(owner("train-g0")).isInstanceOf(Owner.Releasing.class);
    }

    @Test
    void aPlanDoesNotTouchWhatAJobThatIsOverHolds() {
        story.tell(finished("a"));
        state = new EditedState(story);
        trainsOn("a", "train-g0");

        planned(Map.of());

        assertThat(kinds()).containsExactly("resize a");
        assertThat(only().reason().code()).isEqualTo("over");
    }
}

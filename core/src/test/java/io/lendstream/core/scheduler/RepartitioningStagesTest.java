package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlicePlan;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The next stage towards a plan in force: units that are started, cut, taken back, drained or made whole. */
class RepartitioningStagesTest {
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final ServiceId SEARCH = new ServiceId("search");
    private static final Owner SERVES = new Owner.Serving(CHAT);
    private static final DecisionId BEFORE = new DecisionId(Scenario.DOMAIN, 1, 1);
    private static final Map<String, Double> CAPACITIES = Map.of(
            "1g.10gb", 60.0,
            "1g.20gb", 60.0,
            "2g.20gb", 120.0,
            "3g.40gb", 200.0,
            "4g.40gb", 250.0,
            "7g.80gb", 400.0);

    private Scheduler scheduler = new Scheduler(
            Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withRepartition(true), Slices.LATENCIES);
    private Scenario story;
    private EditedState state;
    private Step step;
    private Instant cutsFrom = Instant.EPOCH;
    private String model = "A100-80GB";

    /** GPUs of one node in MIG mode, cut so, and two services that ask for 50 requests/s each. */
    private void cluster(String... cuts) {
        story = services(50).migNode("cut", Pool.INFERENCE, cuts);
        state = new EditedState(story);
    }

    /** The same where MIG mode may be switched, all units are free, and only chat is asked for something. */
    private void switchable(String... cuts) {
        story = services(0).switchableNode("cut", Pool.INFERENCE, cuts);
        state = new EditedState(story);
        for (GpuState gpu : story.state().gpus().values()) {
            state.owner(gpu.gpuId().value(), new Owner.Free());
        }
    }

    private static Scenario services(double search) {
        Scheduler quiet = new Scheduler(new ScriptedPolicy(), SchedulerSettings.DEFAULTS);
        return new Scenario(quiet)
                .service("chat", 0)
                .service("search", 0)
                .rate("chat", 50)
                .rate("search", search);
    }

    private static SlicePlan.Cut cut(String... instances) {
        return new SlicePlan.Cut(
                Arrays.stream(instances)
                        .map(each -> each.substring(0, each.indexOf(' ')))
                        .toList(),
                Arrays.stream(instances)
                        .map(each -> new ServiceId(each.substring(each.indexOf(' ') + 1)))
                        .toList());
    }

    /** The plan in force, for 50 requests/s of these services; it was considered just now. */
    private SlicePlan plan(List<ServiceId> services, SlicePlan.Cut... cuts) {
        return new SlicePlan(
                state.now(),
                model,
                List.of(cuts),
                services.stream()
                        .map(service -> new SlicePlan.Demand(service, 50, CAPACITIES))
                        .toList(),
                0,
                Instant.EPOCH,
                cutsFrom,
                "as the test has it");
    }

    private void ticked(SlicePlan.Cut... cuts) {
        ticked(plan(List.of(CHAT, SEARCH), cuts));
    }

    private void ticked(SlicePlan plan) {
        step = state.slices(plan).planAt(state.now().plus(ofMinutes(10))).tick(scheduler);
    }

    private List<String> kinds() {
        return step.decisions().stream()
                .map(decision ->
                        (decision.action().kind() + " " + decision.action().target()).strip())
                .toList();
    }

    private Decision only() {
        assertThat(step.decisions()).hasSize(1);
        return step.decisions().get(0);
    }

    private Owner owner(String gpu) {
        return step.state().gpus().require(new GpuId(gpu)).owner();
    }

    /** A job trains on a unit that was lent to it for 600 s. */
    private void lends(String unit, String job) {
        lends(unit, job, state.now().plusSeconds(600));
    }

    private void lends(String unit, String job, Instant until) {
        story.smallJob(job, 1, 8);
        EditedState with = new EditedState(story);
        state.state().gpus().stream()
                .filter(gpu -> !gpu.isFree())
                .forEach(gpu -> with.owner(gpu.gpuId().value(), gpu.owner()));
        state.state().jobs().stream()
                .filter(known -> known.gpus() > 0)
                .forEach(known -> with.job(known.spec().job().value(), any -> known));
        state = with;
        List<GpuId> gpus = List.of(new GpuId(unit));
        Optional<Double> share =
                state.state().gpus().require(new GpuId(unit)).instance().map(MigInstance::share);
        state.owner(unit, new Owner.Lent(new JobId(job), BEFORE, until))
                .job(
                        job,
                        known -> known.allocated(
                                        new Allocation(gpus, 64, 1, 1, Mechanism.AFE),
                                        share,
                                        BEFORE,
                                        state.now(),
                                        state.now())
                                .aiming(gpus)
                                .settled(Optional.empty()));
    }

    @Test
    void aUnitAnswersWhatItsProfileDoesAndAWholeGpuThatMayBeCutWhatTheLargestDoes() {
        switchable("", "1g.10gb@0");
        story.node("whole", Pool.INFERENCE, 1, "NVIDIA A100-SXM4-80GB");
        state = new EditedState(story);
        assertThat(capacity(CHAT, "cut-g0")).as("before anything is planned").isZero();
        state.slices(plan(List.of(CHAT)));

        assertThat(capacity(CHAT, "cut-g0")).isEqualTo(400);
        assertThat(capacity(CHAT, "cut-g1/0:1")).isEqualTo(60);
        assertThat(capacity(CHAT, "whole-g0")).isZero();
        assertThat(capacity(SEARCH, "cut-g0"))
                .as("of a service that is not planned")
                .isZero();
    }

    private double capacity(ServiceId service, String unit) {
        return CuttableGpus.capacity(
                state.draft(), service, state.state().gpus().require(new GpuId(unit)));
    }

    @Test
    void aFreeInstanceThatThePlanWantsIsPutToWork() {
        cluster("1g.10gb@0 1g.10gb@1");

        ticked(cut("1g.10gb chat"));

        Decision serve = only();
        assertThat(serve.action()).isInstanceOf(Action.Serve.class);
        assertThat(serve.action().gpus()).hasSize(1);
        assertThat(serve.deadline()).isEqualTo(state.now().plusSeconds(16));
        assertThat(serve.reason().code()).isEqualTo("slices");
        assertThat(serve.reason().text())
                .isEqualTo("chat starts on 1 MIG instance to answer 50.0 requests/s (plan: as the test has it)");
        assertThat(serve.reason().numbers())
                .containsOnly(
                        Map.entry("plannedPerSecond", 50.0),
                        Map.entry("gpusPlanned", 1.0),
                        Map.entry("requestsPerSecond", 50.0));
        assertThat(serve.reason().inputs())
                .containsExactly(
                        state.state().services().require(CHAT).demand().event(),
                        state.state().eventSequence() + 1);
        assertThat(owner(serve.action().gpus().get(0).value())).isInstanceOf(Owner.Binding.class);
    }

    @Test
    void eachServiceIsGivenItsInstancesInOneDecision() {
        cluster("2g.20gb@0 1g.10gb@2 1g.10gb@3");

        ticked(cut("2g.20gb search", "1g.10gb chat", "1g.10gb chat"));

        assertThat(kinds()).containsExactly("serve chat", "serve search");
        assertThat(step.decisions().get(0).action().gpus())
                .containsExactly(new GpuId("cut-g0/2:1"), new GpuId("cut-g0/3:1"));
        assertThat(step.decisions().get(0).reason().text()).startsWith("chat starts on 2 MIG instances to answer ");
        assertThat(step.decisions().get(1).action().gpus()).containsExactly(new GpuId("cut-g0/0:2"));
    }

    @Test
    void instancesThatThePlanHasForServicesItDoesNotServeAreLeftOut() {
        cluster("1g.10gb@0 1g.10gb@1");

        ticked(plan(List.of(SEARCH), cut("1g.10gb chat", "1g.10gb search"), cut("7g.80gb chat")));

        assertThat(kinds()).containsExactly("serve search");
    }

    @Test
    void nothingIsDoneWhereItIsSwitchedOffOrFrozenOrThePlanIsForAnotherKindOfGpu() {
        cluster("1g.10gb@0");
        state.mode(new Mode(true, false, false));
        ticked(cut("1g.10gb chat"));
        assertThat(step.decisions()).isEmpty();

        state.mode(new Mode(false, false, false));
        model = "H100-SXM5-80GB";
        ticked(cut("1g.10gb chat"));
        assertThat(step.decisions()).isEmpty();

        model = "A100-80GB";
        scheduler = new Scheduler(scheduler.policy(), SchedulerSettings.DEFAULTS, Slices.LATENCIES);
        ticked(cut("1g.10gb chat"));
        assertThat(kinds()).doesNotContain("serve chat");
    }

    @Test
    void demandAloneMovesNothingUntilTrainingIsPlannedOrTimePasses() {
        cluster("1g.10gb@0");
        state.slices(plan(List.of(CHAT, SEARCH), cut("1g.10gb chat")));
        var same = story.rateRecord("chat", 50, 2);

        state.planAt(state.now().plusSeconds(1));
        assertThat(state.step(scheduler, same).decisions()).isEmpty();

        state.planAt(state.now());
        step = state.step(scheduler, same);
        assertThat(kinds()).containsExactly("serve chat");
    }

    @Test
    void whatComesFreeIsUsedAtOnce() {
        cluster("1g.10gb@0");
        state.slices(plan(List.of(CHAT, SEARCH), cut("1g.10gb chat")))
                .planAt(state.now().plusSeconds(60));
        state.owner(
                "cut-g0/0:1",
                new Owner.Releasing(
                        new Tenant.Job(new JobId("a")),
                        BEFORE,
                        state.now(),
                        state.now().plusSeconds(45)));

        step = state.step(
                scheduler,
                story.report(
                        BEFORE,
                        Outcome.RELEASED,
                        List.of(new GpuId("cut-g0/0:1")),
                        Optional.of(new Tenant.Job(new JobId("a")))));

        assertThat(kinds()).containsExactly("serve chat");
    }

    @Test
    void aGpuIsCutIntoWhatThePlanHasBiggestFirst() {
        cluster("7g.80gb@0");

        ticked(cut("4g.40gb chat", "2g.20gb search", "1g.20gb chat"));

        Decision recut = only();
        assertThat(recut.action())
                .isEqualTo(new Action.Repartition(
                        List.of(new GpuId("cut-g0")), List.of("4g.40gb@0", "2g.20gb@4", "1g.20gb@6")));
        assertThat(recut.deadline()).isEqualTo(state.now().plusSeconds(120));
        assertThat(recut.reason().code()).isEqualTo("slices");
        assertThat(recut.reason().text())
                .startsWith("cut-g0 is cut into 1 × 4g.40gb, 1 × 2g.20gb and 1 × 1g.20gb for ")
                .endsWith(" (plan: as the test has it)")
                .contains("chat", "search");
        assertThat(recut.reason().numbers()).containsOnly(Map.entry("instances", 3.0), Map.entry("removed", 1.0));
        assertThat(recut.reason().inputs()).containsExactly(state.state().eventSequence() + 1);
        Instant by = state.now().plusSeconds(120);
        assertThat(owner("cut-g0/0:8")).isEqualTo(new Owner.Recutting(recut.id(), by, false));
        assertThat(owner("cut-g0/0:4")).isEqualTo(new Owner.Recutting(recut.id(), by, true));
        assertThat(owner("cut-g0/4:2")).isEqualTo(new Owner.Recutting(recut.id(), by, true));
        assertThat(owner("cut-g0/6:2")).isEqualTo(new Owner.Recutting(recut.id(), by, true));
        GpuState four = step.state().gpus().require(new GpuId("cut-g0/0:4"));
        assertThat(four.nodeId()).isEqualTo(new NodeId("cut"));
        assertThat(four.pool()).isEqualTo(Pool.INFERENCE);
        assertThat(four.instance()).contains(new MigInstance(new GpuId("cut-g0"), "4g.40gb", 0, 4, 40L << 30, 0.5));
    }

    @Test
    void ofTwoInstancesWithAsMuchMemoryTheOneWithMoreComputeIsNamedFirst() {
        cluster("7g.80gb@0");

        ticked(cut("4g.40gb chat", "3g.40gb search"));

        assertThat(((Action.Repartition) only().action()).profiles()).containsExactly("4g.40gb@0", "3g.40gb@4");
    }

    @Test
    void ofTwoInstancesAlikeTheFirstByPlaceIsNamedFirst() {
        cluster("7g.80gb@0");

        ticked(cut("3g.40gb chat", "3g.40gb search"));

        assertThat(((Action.Repartition) only().action()).profiles()).containsExactly("3g.40gb@0", "3g.40gb@4");
    }

    @Test
    void instancesBesideWhichThereIsRoomStayAsTheyAre() {
        cluster("1g.10gb@0");
        state.owner("cut-g0/0:1", SERVES);

        ticked(cut("3g.40gb search", "1g.10gb chat"));

        Decision recut = only();
        assertThat(((Action.Repartition) recut.action()).profiles()).containsExactly("3g.40gb@4", "1g.10gb@0");
        assertThat(recut.reason().text()).contains(" for search (plan: as the test has it)");
        assertThat(recut.reason().numbers()).containsEntry("removed", 0.0);
        assertThat(owner("cut-g0/0:1")).isEqualTo(SERVES);
        assertThat(owner("cut-g0/4:4")).isInstanceOf(Owner.Recutting.class);
    }

    @Test
    void noGpuIsCutBeforeThePauseAfterAFailedCutIsOver() {
        cluster("7g.80gb@0");
        cutsFrom = state.now().plusMillis(1);
        ticked(cut("3g.40gb chat"));
        assertThat(step.decisions()).isEmpty();

        cutsFrom = state.now();
        ticked(cut("3g.40gb chat"));
        assertThat(kinds()).containsExactly("repartition");
    }

    @Test
    void aGpuThatIsBeingCutIsNotCutAgain() {
        cluster("7g.80gb@0");
        ticked(cut("3g.40gb chat"));
        Step cut = step;
        state = new EditedState(story);
        state.owner(
                "cut-g0/0:8",
                cut.state().gpus().require(new GpuId("cut-g0/0:8")).owner());

        ticked(cut("3g.40gb chat"));

        assertThat(step.decisions()).isEmpty();
    }

    @Test
    void aLoanInTheWayIsTakenBackAndItsPriceIsNamed() {
        cluster("3g.40gb@0");
        lends("cut-g0/0:4", "small");

        ticked(cut("4g.40gb chat", "2g.20gb search"));

        Decision reclaim = only();
        assertThat(reclaim.action().gpus()).containsExactly(new GpuId("cut-g0/0:4"));
        double share = 39.25 / 80;
        double lost = share * (600 + 24);
        assertThat(reclaim.reason().code()).isEqualTo("slices");
        assertThat(reclaim.reason().text())
                .isEqualTo("small gives 1 MIG instance back and waits: its place goes to chat, search, where 370.0 more"
                        + " requests/s are answered within the SLO and training loses 306 GPU-seconds"
                        + " (1.21 requests/s for each) (plan: as the test has it)");
        assertThat(reclaim.reason().numbers())
                .containsEntry("servedPerSecond", 370.0)
                .containsEntry("lostGpuSeconds", lost)
                .containsEntry("plannedPerSecond", 50.0);
        assertThat(reclaim.deadline()).isEqualTo(state.now().plusSeconds(45));
    }

    @Test
    void aLoanOnAnInstanceThatFitsIsTakenBackToo() {
        cluster("1g.10gb@0");
        lends("cut-g0/0:1", "small");

        ticked(cut("1g.10gb chat"));

        assertThat(kinds()).containsExactly("reclaim small");
        assertThat(only().reason().text())
                .startsWith(
                        "small gives 1 MIG instance back and waits: its place goes to chat, where 60.0 more requests/s");
    }

    @Test
    void aReplicaThatSleepsInTheWayIsStopped() {
        switchable("");
        state.owner("cut-g0", new Owner.Sleeping(CHAT));

        ticked(cut("1g.10gb search"));

        assertThat(kinds()).contains("idle chat");
        Decision stopped = step.decisions().get(0);
        assertThat(stopped.reason().text())
                .isEqualTo("chat idles 1 replica: its place goes to MIG instances (plan: as the test has it)");
        assertThat(stopped.action().gpus()).containsExactly(new GpuId("cut-g0"));
        assertThat(owner("cut-g0")).isInstanceOf(Owner.Releasing.class);
        assertThat(kinds()).doesNotContain("repartition");
    }

    @Test
    void theGpuWhereLeastTrainingIsLostIsTaken() {
        cluster("1g.10gb@0", "1g.10gb@0", "1g.10gb@0");
        lends("cut-g0/0:1", "a", story.now().plusSeconds(600));
        lends("cut-g1/0:1", "b", story.now().plusSeconds(400));
        lends("cut-g2/0:1", "c", story.now().plusSeconds(500));

        ticked(cut("1g.10gb chat"));

        assertThat(kinds()).containsExactly("reclaim b");
    }

    @Test
    void aGpuThatNeedNotBeSwitchedIsTakenRatherThanOneThatMust() {
        switchable("", "1g.10gb@0");

        ticked(cut("1g.10gb chat"));

        assertThat(kinds()).containsExactly("serve chat");
        assertThat(only().action().gpus()).containsExactly(new GpuId("cut-g1/0:1"));
    }

    @Test
    void aGpuInTransferIsTakenFirst() {
        cluster("1g.10gb@0", "1g.10gb@0");
        state.owner(
                "cut-g1/0:1",
                new Owner.Releasing(
                        new Tenant.Job(new JobId("a")),
                        BEFORE,
                        state.now(),
                        state.now().plusSeconds(45)));

        ticked(cut("1g.10gb chat"));

        assertThat(step.decisions()).as("it waits for that GPU").isEmpty();
    }

    @Test
    void anInstanceIsDrainedOnceOthersDoItsWork() {
        cluster("1g.10gb@0", "2g.20gb@0");
        state.owner("cut-g0/0:1", SERVES).owner("cut-g1/0:2", SERVES);

        ticked(cut("2g.20gb chat"));

        Decision drained = only();
        assertThat(drained.action()).isInstanceOf(Action.Idle.class);
        assertThat(drained.action().gpus()).containsExactly(new GpuId("cut-g0/0:1"));
        assertThat(drained.deadline()).isEqualTo(state.now().plusSeconds(30));
        assertThat(drained.reason().text())
                .isEqualTo(
                        "chat drains 1 MIG instance: its other replicas answer its 50.0 requests/s (plan: as the test has it)");
        assertThat(owner("cut-g0/0:1")).isInstanceOf(Owner.Releasing.class);
        assertThat(owner("cut-g1/0:2")).isEqualTo(SERVES);
    }

    @Test
    void anInstanceIsNotDrainedWhileOthersAreStillComing() {
        cluster("1g.10gb@0", "2g.20gb@0");
        state.owner("cut-g0/0:1", SERVES)
                .owner(
                        "cut-g1/0:2",
                        new Owner.Binding(
                                new Tenant.Service(CHAT), BEFORE, state.now().plusSeconds(16), Optional.empty(), 1));

        ticked(cut("2g.20gb chat"));

        assertThat(step.decisions()).isEmpty();
    }

    @Test
    void onceAllIsAsPlannedWhatIsLeftBecomesWholeAgain() {
        cluster("1g.10gb@0", "1g.10gb@0 1g.10gb@1", "7g.80gb@0");
        state.owner("cut-g0/0:1", SERVES);

        ticked(cut("1g.10gb chat"));

        assertThat(only().action())
                .isEqualTo(new Action.Repartition(List.of(new GpuId("cut-g1")), List.of("7g.80gb@0")));
        assertThat(only().reason().text())
                .isEqualTo(
                        "cut-g1 is cut into 1 × 7g.80gb so that it can be lent: no service needs it (plan: as the test has it)");
        assertThat(only().reason().numbers()).containsOnly(Map.entry("instances", 1.0), Map.entry("removed", 2.0));
        assertThat(owner("cut-g1/0:8"))
                .isEqualTo(new Owner.Recutting(only().id(), state.now().plusSeconds(120), true));
    }

    @Test
    void whereItMayBeSwitchedWhatIsLeftLeavesMigMode() {
        switchable("1g.10gb@0", "7g.80gb@0", "");
        state.owner("cut-g0/0:1", SERVES);

        ticked(cut("1g.10gb chat"));

        assertThat(only().action()).isEqualTo(new Action.Repartition(List.of(new GpuId("cut-g1")), List.of()));
        assertThat(only().reason().text())
                .isEqualTo(
                        "cut-g1 leaves MIG mode so that it can be lent: no service needs it (plan: as the test has it)");
        assertThat(only().reason().numbers()).containsOnly(Map.entry("instances", 0.0), Map.entry("removed", 1.0));
        assertThat(owner("cut-g1/0:8")).isInstanceOf(Owner.Recutting.class);
        assertThat(owner("cut-g1"))
                .isEqualTo(new Owner.Recutting(only().id(), state.now().plusSeconds(120), true));
        assertThat(step.state().gpus().require(new GpuId("cut-g1")).isWhole()).isTrue();
    }

    @Test
    void aGpuIsNotMadeWholeWhileItHasATenantOrAnotherStepRuns() {
        cluster("1g.10gb@0", "1g.10gb@0 1g.10gb@1");
        state.owner("cut-g0/0:1", SERVES);
        lends("cut-g1/0:1", "small");
        ticked(cut("1g.10gb chat"));
        assertThat(step.decisions()).isEmpty();

        state.owner("cut-g1/0:1", new Owner.Recutting(BEFORE, state.now().plusSeconds(60), true));
        ticked(cut("1g.10gb chat"));
        assertThat(kinds()).doesNotContain("repartition");
    }

    @Test
    void whereNoServiceIsKnownToRunOnInstancesThePlanBecomesEmptyAndGpusWhole() {
        cluster("1g.10gb@0");
        scheduler = new Scheduler(scheduler.policy(), scheduler.settings(), (service, gpu) -> Optional.empty());

        ticked(plan(List.of(CHAT), cut("1g.10gb chat")).consideredAt(state.now().minus(ofMinutes(6))));

        assertThat(step.state().slices().orElseThrow().cuts()).isEmpty();
        assertThat(only().reason().text())
                .isEqualTo("cut-g0 is cut into 1 × 7g.80gb so that it can be lent:"
                        + " no service needs it (plan: no service runs on MIG instances)");
    }

    /** 7g of chat where its 3g has no room to stay meanwhile; it is considered again and stays as it is. */
    private void stuck(SlicePlan.Cut... cuts) {
        story = new Scenario(new Scheduler(new ScriptedPolicy(), SchedulerSettings.DEFAULTS))
                .service("chat", 0)
                .rate("chat", 50)
                .migNode("cut", Pool.INFERENCE, "3g.40gb@0");
        state = new EditedState(story);
        state.owner("cut-g0/0:4", SERVES);
        step = state.slices(plan(List.of(CHAT), cuts).consideredAt(state.now().minus(ofMinutes(6))))
                .planAt(state.now().plus(ofMinutes(10)))
                .tick(scheduler);
    }

    @Test
    void aPlanThatServicesWouldFallShortOnTheWayToWaitsAndTheReasonSaysWhich() {
        stuck(cut("7g.80gb chat"));

        Decision hold = only();
        assertThat(hold.action()).isEqualTo(new Action.Hold(Optional.empty(), Optional.empty()));
        assertThat(hold.deadline()).isEqualTo(state.now());
        assertThat(hold.reason().code()).isEqualTo("slices");
        assertThat(hold.reason().text())
                .isEqualTo("the plan of MIG instances waits: services would fall short on the way:"
                        + " chat needs 50.0 requests/s and would have 0.0");
        assertThat(hold.reason().inputs()).containsExactly(state.state().eventSequence() + 1);
    }

    @Test
    void aPlanThatIsStuckIsNotSpokenOfAtEveryTick() {
        cluster("3g.40gb@0");
        state.owner("cut-g0/0:4", SERVES);

        ticked(plan(List.of(CHAT), cut("7g.80gb chat")));

        assertThat(step.decisions()).isEmpty();
    }

    @Test
    void aPlanOfMoreGpusThanThereAreWaits() {
        stuck(cut("3g.40gb chat"), cut("7g.80gb chat"));

        assertThat(only().reason().text())
                .isEqualTo("the plan of MIG instances waits: only 1 GPU can be cut, fewer than it needs");
    }

    @Test
    void whatAServiceIsAboutToTakeIsNotLentMeanwhile() {
        cluster("1g.10gb@0 1g.10gb@1 1g.10gb@4");
        lends("cut-g0/0:1", "small");
        story.smallJob("other", 1, 8);
        EditedState before = state;
        state = new EditedState(story);
        state.owner(
                        "cut-g0/0:1",
                        before.state().gpus().require(new GpuId("cut-g0/0:1")).owner())
                .job("small", any -> before.state().jobs().require(new JobId("small")));
        scheduler = new Scheduler(new ScriptedPolicy(), scheduler.settings(), Slices.LATENCIES);

        step = state.slices(plan(List.of(CHAT, SEARCH), cut("4g.40gb chat")))
                .planAt(state.now())
                .tick(scheduler);

        assertThat(kinds()).containsExactly("reclaim small", "lend other");
        assertThat(step.decisions().get(1).action().gpus()).containsExactly(new GpuId("cut-g0/4:1"));
    }
}

package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Bucket;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.HostNeed;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.QueueState;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Each kind of advice: when its approval is carried out, how, and why it is refused otherwise. */
class ApprovalRefusalsTest {
    private static final JobId JOB = new JobId("a");
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final Tenant CHATS = new Tenant.Service(CHAT);
    private static final DecisionId BEFORE = new DecisionId(Scenario.DOMAIN, 1, 1);
    private static final DecisionId ADVICE = new DecisionId(Scenario.DOMAIN, 1, 900);

    private Scheduler scheduler = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);
    private Scenario story = begun();
    private EditedState state = new EditedState(story);
    private Step step;

    /** Two training GPUs, four of inference of which one serves, and a queued job; decisions are advice. */
    private Scenario begun() {
        return new Scenario(scheduler)
                .node("train", Pool.TRAINING, 2)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled()
                .control(ControlCommand.Kind.ADVISORY_ON)
                .job("a", 4)
                .rate("chat", 1);
    }

    private static List<GpuId> gpus(String... names) {
        return Arrays.stream(names).map(GpuId::new).toList();
    }

    private static Allocation allocation(String... names) {
        return names.length == 0
                ? Allocation.suspended(Mechanism.AFE)
                : new Allocation(gpus(names), 64, 1, 1.0, Mechanism.AFE);
    }

    private Action lend(Allocation allocation, String... named) {
        return new Action.Lend(JOB, gpus(named), state.now().plusSeconds(600), allocation);
    }

    private Action reclaim(Allocation allocation, String... named) {
        return new Action.Reclaim(JOB, gpus(named), state.now().plusSeconds(45), allocation);
    }

    private Action idle(String... named) {
        return new Action.Idle(CHAT, gpus(named), state.now().plusSeconds(30));
    }

    /** The job trains on these GPUs, and nothing is being changed for it. */
    private void trainsOn(String... names) {
        for (String name : names) {
            state.owner(
                    name,
                    name.startsWith("train")
                            ? new Owner.Training(JOB)
                            : new Owner.Lent(JOB, BEFORE, state.now().plus(ofMinutes(10))));
        }
        state.job(
                "a",
                job -> job.allocated(allocation(names), Optional.empty(), BEFORE, state.now(), state.now())
                        .aiming(gpus(names))
                        .settled(Optional.empty()));
    }

    /** Approves an action that was advised with 20 s to carry it out. */
    private Decision approve(Action action) {
        Decision advice = new Decision(
                ADVICE,
                state.now().minusSeconds(5),
                state.now().plusSeconds(15),
                true,
                new Reason("plan", "the text of the advice", Map.of("gpusAfter", 3.0), List.of(2L)),
                action);
        state.advised(advice);
        step = state.step(scheduler, command(Optional.of(ADVICE)));
        assertThat(step.decisions()).hasSize(1);
        return step.decisions().get(0);
    }

    private ControlCommand command(Optional<DecisionId> decision) {
        return new ControlCommand(
                Scenario.DOMAIN,
                "command",
                state.now(),
                "tester",
                ControlCommand.Kind.APPROVE,
                decision,
                List.of(),
                "for the test");
    }

    private void assertRefused(Action action, String why) {
        Decision decision = approve(action);
        assertThat(decision.action()).isEqualTo(new Action.Hold(Optional.empty(), Optional.empty()));
        assertThat(decision.reason().code()).isEqualTo("approved");
        assertThat(decision.reason().text()).isEqualTo("decision test/1/900 cannot be carried out any more: " + why);
        assertThat(decision.reason().numbers()).isEmpty();
        assertThat(decision.reason().inputs()).containsExactly(2L, state.state().eventSequence() + 1);
        assertThat(decision.deadline()).isEqualTo(state.now());
        assertThat(decision.advisory()).isFalse();
        assertThat(step.changed().owners()).isEmpty();
    }

    @Test
    void aSizeThatTheShapeForbidsIsRefused() {
        state.job("a", job -> job.described(job.spec().shaped(JobShape.multiples(2)), 1));

        assertRefused(
                new Action.Resize(JOB, gpus("train-g0"), allocation("train-g0")),
                "the shape of job a (multiples of 2 GPUs) forbids these GPUs");
    }

    @Test
    void moreHostMemoryThanANodeHasIsRefused() {
        state = new EditedState(story.host("train", 8, 64));
        state.job(
                "a",
                job -> job.described(job.spec().needing(new HostNeed(Optional.empty(), Optional.of(40L << 30))), 1));

        assertRefused(
                new Action.Resize(JOB, gpus("train-g0", "train-g1"), allocation("train-g0", "train-g1")),
                "a needs 80.0 GiB of host memory for 2 GPUs of node train, which has 64.0 GiB of host memory left of"
                        + " 64.0 GiB of host memory");
    }

    private Decision assertDone(Action action) {
        Decision decision = approve(action);
        assertThat(decision.reason().code()).isEqualTo("approved");
        assertThat(decision.reason().text())
                .isEqualTo("the text of the advice (advice test/1/900, approved by tester)");
        assertThat(decision.reason().numbers()).containsExactly(Map.entry("gpusAfter", 3.0));
        assertThat(decision.reason().inputs()).containsExactly(2L, state.state().eventSequence() + 1);
        assertThat(decision.at()).isEqualTo(state.now());
        assertThat(decision.advisory()).isFalse();
        assertThat(decision.id().sequence()).isEqualTo(state.state().decisionSequence() + 1);
        return decision;
    }

    private Owner owner(String gpu) {
        return step.state().gpus().require(new GpuId(gpu)).owner();
    }

    @Test
    void anApprovalThatNamesNoDecisionIsRefused() {
        Step refused = state.step(scheduler, command(Optional.empty()));

        assertThat(refused.decisions()).singleElement().satisfies(decision -> {
            assertThat(decision.action()).isEqualTo(new Action.Hold(Optional.empty(), Optional.empty()));
            assertThat(decision.reason().text())
                    .isEqualTo(
                            "decision none cannot be approved: it is not advice that still stands; 'lendstream explain advice' lists the advice that stands");
            assertThat(decision.reason().inputs()).containsExactly(state.state().eventSequence() + 1);
        });
    }

    @Test
    void aLoanBindsItsGpusForTheLeaseAndGivesTrainingGpusBesides() {
        Decision lend = assertDone(lend(allocation("infer-g1", "train-g0"), "infer-g1"));

        Instant until = state.now().plus(ofMinutes(10));
        Action.Lend action = (Action.Lend) lend.action();
        assertThat(action.gpus()).isEqualTo(gpus("infer-g1"));
        assertThat(action.until()).isEqualTo(until);
        assertThat(action.allocation().gpus()).isEqualTo(gpus("infer-g1", "train-g0"));
        assertThat(lend.deadline()).isEqualTo(state.now().plusSeconds(60));
        Tenant job = new Tenant.Job(JOB);
        assertThat(owner("infer-g1"))
                .isEqualTo(new Owner.Binding(job, lend.id(), lend.deadline(), Optional.of(until), 1));
        assertThat(owner("train-g0"))
                .isEqualTo(new Owner.Binding(job, lend.id(), lend.deadline(), Optional.empty(), 1));
        assertThat(step.state().jobs().require(JOB).changing()).contains(lend.id());
    }

    @Test
    void aLoanThatAlsoMovesAJobOffTrainingGpusNamesOnlyWhatIsLent() {
        trainsOn("train-g0", "infer-g2");

        assertDone(lend(allocation("infer-g1", "infer-g2"), "infer-g1"));

        assertThat(owner("train-g0")).isInstanceOf(Owner.Releasing.class);
        assertThat(owner("infer-g1")).isInstanceOf(Owner.Binding.class);
        assertThat(owner("infer-g2")).isInstanceOf(Owner.Lent.class);
    }

    @Test
    void aLoanOfOtherGpusThanTheJobNowLacksIsRefused() {
        trainsOn("infer-g1");

        assertRefused(lend(allocation("infer-g1", "infer-g2"), "infer-g1", "infer-g2"), "job a has other GPUs now");
    }

    @Test
    void aLoanIsRefusedWhereLendingIsOff() {
        scheduler =
                new Scheduler(scheduler.policy(), SchedulerSettings.DEFAULTS.withLending(false), scheduler.latencies());

        assertRefused(lend(allocation("infer-g1"), "infer-g1"), "lending is off");
    }

    @Test
    void aLoanIsRefusedWhileLoansAreOrderedBack() {
        state.mode(new Mode(false, true, true));

        assertRefused(
                lend(allocation("infer-g1"), "infer-g1"),
                "an operator ordered all loans back; 'lendstream thaw' allows loans again");
    }

    @Test
    void aLoanIsRefusedToAJobWhoseProgressIsStale() {
        trainsOn("train-g0");
        state = rated(301, "train-g0");

        assertRefused(
                lend(allocation("infer-g1", "train-g0"), "infer-g1"),
                "the last progress report of a is 301 s old (limit: 300 s)");
    }

    /** The job said so many seconds ago that it runs on these GPUs; demand is known. */
    private EditedState rated(int seconds, String... names) {
        story.progress("a", JobPhase.RUNNING).after(ofSeconds(seconds)).rate("chat", 1);
        state = new EditedState(story);
        trainsOn(names);
        return state;
    }

    @Test
    void aFreezeRefusesAResizeButNotAReclaim() {
        trainsOn("train-g0", "infer-g1");
        state.mode(new Mode(true, true, false));

        assertRefused(
                new Action.Resize(JOB, gpus("train-g1"), allocation("infer-g1", "train-g0", "train-g1")),
                "the domain is frozen");
        Decision reclaim = assertDone(reclaim(allocation("train-g0"), "infer-g1"));

        assertThat(reclaim.action()).isInstanceOf(Action.Reclaim.class);
        assertThat(((Action.Reclaim) reclaim.action()).allocation().gpus()).isEqualTo(gpus("train-g0"));
        assertThat(reclaim.deadline()).isEqualTo(state.now().plusSeconds(45));
        assertThat(owner("infer-g1"))
                .isEqualTo(new Owner.Releasing(
                        new Tenant.Job(JOB),
                        reclaim.id(),
                        state.now().plusSeconds(45),
                        state.now().plusSeconds(90)));
        assertThat(owner("train-g0")).isEqualTo(new Owner.Training(JOB));
    }

    @Test
    void aResizeNamesWhatTheJobGainsAndWhatItLoses() {
        trainsOn("train-g0");

        Decision resize = assertDone(new Action.Resize(JOB, gpus("train-g0", "train-g1"), allocation("train-g1")));

        assertThat(((Action.Resize) resize.action()).gpus()).isEqualTo(gpus("train-g0", "train-g1"));
        assertThat(owner("train-g0")).isInstanceOf(Owner.Releasing.class);
        assertThat(owner("train-g1")).isInstanceOf(Owner.Binding.class);
        assertRefused(new Action.Resize(JOB, gpus("train-g1"), allocation("train-g1")), "job a has other GPUs now");
    }

    @Test
    void nothingIsChangedForAJobThatIsUnknownOrOver() {
        assertRefused(new Action.Resize(new JobId("b"), gpus("train-g0"), allocation("train-g0")), "job b has ended");

        story.progress("a", JobPhase.FINISHED);
        state = new EditedState(story);
        assertRefused(new Action.Resize(JOB, gpus("train-g0"), allocation("train-g0")), "job a has ended");
    }

    @Test
    void nothingIsChangedForAJobWhileItIsBeingChanged() {
        state.job(
                "a",
                job -> job.allocated(
                        allocation("train-g0"),
                        Optional.empty(),
                        BEFORE,
                        state.now().plusSeconds(60),
                        state.now()));

        assertRefused(reclaim(allocation(), "train-g0"), "job a is being changed by test/1/1");
    }

    @Test
    void aJobIsGivenNoGpuThatIsTakenOrOnANodeThatCannotBeReached() {
        Action resize = new Action.Resize(JOB, gpus("train-g0", "train-g1"), allocation("train-g0", "train-g1"));
        state.owner("train-g1", new Owner.Training(new JobId("other")));
        assertRefused(resize, "train-g1 is not free");

        story.tell(new Node(
                new NodeId("train"),
                Scenario.DOMAIN,
                Pool.TRAINING,
                "boot-1",
                story.now(),
                NodeStatus.UNAVAILABLE,
                List.of(
                        Gpu.whole(new GpuId("train-g0"), 0, "test GPU", 80L << 30),
                        Gpu.whole(new GpuId("train-g1"), 1, "test GPU", 80L << 30))));
        state = new EditedState(story);
        assertRefused(resize, "train-g0 is not free");
    }

    @Test
    void whatTheJobHasAlreadyNeedNotBeFree() {
        trainsOn("train-g0");

        assertDone(new Action.Resize(JOB, gpus("train-g1"), allocation("train-g0", "train-g1")));

        assertThat(owner("train-g0")).isEqualTo(new Owner.Training(JOB));
    }

    @Test
    void aReplicaIsStartedOnAFreeGpuWithinTwiceItsWarmUp() {
        Decision serve = assertDone(new Action.Serve(CHAT, gpus("infer-g1", "infer-g2"), false));

        assertThat(serve.action()).isEqualTo(new Action.Serve(CHAT, gpus("infer-g1", "infer-g2"), false));
        assertThat(serve.deadline()).isEqualTo(state.now().plusSeconds(16));
        assertThat(owner("infer-g2"))
                .isEqualTo(new Owner.Binding(CHATS, serve.id(), serve.deadline(), Optional.empty(), 1));
    }

    @Test
    void aReplicaIsNotStartedWhereTheGpuIsTakenOrTheServiceUnknown() {
        state.owner("infer-g2", new Owner.Sleeping(CHAT));

        assertRefused(new Action.Serve(CHAT, gpus("infer-g1", "infer-g2"), false), "infer-g2 is not free");
        assertRefused(new Action.Serve(new ServiceId("search"), gpus("infer-g1"), false), "service search is unknown");
    }

    @Test
    void aUnitThatIsPromisedToTheSameTenantIsTaken() {
        state.promised("infer-g1", CHATS);
        Decision serve = assertDone(new Action.Serve(CHAT, gpus("infer-g1", "infer-g2"), false));
        assertThat(serve.action().gpus()).isEqualTo(gpus("infer-g1", "infer-g2"));

        state = new EditedState(story);
        state.job("a", job -> job.aiming(gpus("train-g0"))).promised("train-g0", new Tenant.Job(JOB));
        assertDone(new Action.Resize(JOB, gpus("train-g0"), allocation("train-g0")));
    }

    @Test
    void aUnitThatIsPromisedToAnotherTenantIsNotTaken() {
        state.promised("infer-g1", CHATS);
        assertRefused(lend(allocation("infer-g1"), "infer-g1"), "infer-g1 is promised to service chat");

        state = new EditedState(story);
        limit(CHAT, 1);
        state.job("a", job -> job.aiming(gpus("infer-g1"))).promised("infer-g1", new Tenant.Job(JOB));
        assertRefused(new Action.Serve(CHAT, gpus("infer-g1"), false), "infer-g1 is promised to job a");
    }

    /** As without advice, the nominal quota of a service comes before a promise to a job. */
    @Test
    void aServiceWithinItsNominalQuotaTakesAUnitThatIsPromisedToAJob() {
        limit(CHAT, 2);
        state.job("a", job -> job.aiming(gpus("infer-g1"))).promised("infer-g1", new Tenant.Job(JOB));

        assertDone(new Action.Serve(CHAT, gpus("infer-g1"), false));

        assertThat(owner("infer-g1").holder()).contains(CHATS);
    }

    /** The service is in a queue with a nominal quota. */
    private void limit(ServiceId service, double nominal) {
        QueueId queue = new QueueId("team-a");
        state.queue(QueueState.of(new ClusterQueue(
                queue,
                Scenario.DOMAIN,
                state.now(),
                Optional.empty(),
                1,
                List.of(KindQuota.of(Optional.empty(), nominal)))));
        state.service(service.value(), known -> known.describedBy(known.spec().in(queue)));
    }

    @Test
    void warmReplicasOfTheServiceArePutToWork() {
        state.owner("infer-g1", new Owner.Sleeping(CHAT));
        state.owner("infer-g2", new Owner.Protected(CHAT, state.now().plusSeconds(31), 0));

        Decision serve = assertDone(new Action.Serve(CHAT, gpus("infer-g1", "infer-g2"), true));

        assertThat(serve.action()).isEqualTo(new Action.Serve(CHAT, gpus("infer-g1", "infer-g2"), true));
        assertThat(owner("infer-g1")).isEqualTo(new Owner.Serving(CHAT));
        assertThat(owner("infer-g2")).isEqualTo(new Owner.Serving(CHAT));
    }

    @Test
    void aReplicaThatIsNotWarmForTheServiceIsNotPutToWork() {
        state.owner("infer-g1", new Owner.Sleeping(new ServiceId("search")));

        assertRefused(new Action.Serve(CHAT, gpus("infer-g1"), true), "infer-g1 is not warm for chat");
        assertRefused(new Action.Serve(CHAT, gpus("infer-g2"), true), "infer-g2 is not warm for chat");
        assertRefused(new Action.Serve(CHAT, gpus("infer-g0"), true), "infer-g0 is not warm for chat");
        assertRefused(new Action.Serve(CHAT, gpus("gone"), true), "gone is not warm for chat");
    }

    @Test
    void aReplicaThatRestsIsStoppedWithin30Seconds() {
        state.owner("infer-g1", new Owner.Sleeping(CHAT));

        Decision stopped = assertDone(idle("infer-g1"));

        assertThat(stopped.action()).isEqualTo(idle("infer-g1"));
        assertThat(stopped.deadline()).isEqualTo(state.now().plusSeconds(30));
        assertThat(owner("infer-g1"))
                .isEqualTo(new Owner.Releasing(
                        CHATS,
                        stopped.id(),
                        state.now().plusSeconds(30),
                        state.now().plusSeconds(75)));
    }

    @Test
    void aReplicaThatServesIsNotStopped() {
        assertRefused(idle("infer-g0"), "infer-g0 is not an idle warm replica of chat");
    }

    @Test
    void noReplicaIsStoppedUnderTheFloorOfItsService() {
        story.service("chat", 2);
        state = new EditedState(story);
        state.owner("infer-g1", new Owner.Sleeping(CHAT));
        state.owner(
                "infer-g2",
                new Owner.Releasing(CHATS, BEFORE, state.now(), state.now().plusSeconds(45)));
        assertRefused(idle("infer-g1"), "service chat would have 1 replica, fewer than its floor of 2");

        state.owner("infer-g2", new Owner.Sleeping(CHAT));
        assertRefused(idle("infer-g1", "infer-g2"), "service chat would have 1 replica, fewer than its floor of 2");

        assertThat(assertDone(idle("infer-g1")).action()).isEqualTo(idle("infer-g1"));
    }

    @Test
    void aReplicaOnAKindThatTheServiceDoesNotUseDoesNotCountInTheFloor() {
        scheduler = new Scheduler(scheduler.policy(), SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS));
        story = new Scenario(scheduler)
                .node("infer", Pool.INFERENCE, 1, "NVIDIA A100-SXM4-80GB", 80)
                .node("old", Pool.INFERENCE, 1, "Tesla T4", 16)
                .control(ControlCommand.Kind.ADVISORY_ON);
        story.tell(story.serviceRecord("chat", 1).onKinds(List.of(KindCapacity.of(new KindId("A100-SXM4-80GB"), 10))));
        state = new EditedState(story);
        state.owner("infer-g0", new Owner.Sleeping(CHAT));
        state.owner("old-g0", new Owner.Serving(CHAT));

        assertRefused(idle("infer-g0"), "service chat would have 0 replicas, fewer than its floor of 1");
    }

    @Test
    void approvedBatchingIsDecidedForTheTermOfTheAdvice() {
        Action.Batching batching =
                new Action.Batching(CHAT, gpus("infer-g0"), Optional.empty(), List.of(new Bucket(1, 8, Duration.ZERO)));

        Decision decision = assertDone(batching);

        assertThat(decision.action()).isEqualTo(batching);
        assertThat(decision.deadline()).isEqualTo(state.now().plusSeconds(20));
        assertRefused(
                new Action.Batching(new ServiceId("search"), List.of(), Optional.empty(), List.of()),
                "service search is unknown");
    }

    @Test
    void cutsAreNotApprovedOneByOne() {
        assertRefused(
                new Action.Repartition(gpus("infer-g1"), List.of()),
                "cuts depend on each other and cannot be approved one by one; use 'lendstream advisory off' for them");
    }

    @Test
    void adviceToHoldAsksForNothing() {
        assertRefused(new Action.Hold(Optional.empty(), Optional.of(CHAT)), "it is a hold, which changes nothing");
    }

    @Test
    void loansAreRenewedForAnotherTerm() {
        trainsOn("infer-g1");
        state.owner("infer-g1", new Owner.Lent(JOB, BEFORE, state.now().plusSeconds(100)));
        Instant until = state.now().plus(ofMinutes(10));

        Decision renewed =
                assertDone(new Action.Renew(gpus("infer-g1"), state.now().plusSeconds(5)));

        assertThat(renewed.action()).isEqualTo(new Action.Renew(gpus("infer-g1"), until));
        assertThat(renewed.deadline()).isEqualTo(until);
        assertThat(owner("infer-g1")).isEqualTo(new Owner.Lent(JOB, BEFORE, until));
    }

    @Test
    void whatIsNotLentIsNotRenewedNorAnythingWhileLoansAreOrderedBack() {
        trainsOn("infer-g1");
        Action renew = new Action.Renew(gpus("infer-g1", "infer-g2"), state.now());
        assertRefused(renew, "infer-g2 is not lent");

        state.mode(new Mode(false, true, true));
        assertRefused(renew, "an operator ordered all loans back; 'lendstream thaw' allows loans again");
    }

    @Test
    void nothingIsCarriedOutWhileMostNodesAreSilent() {
        story.sample("train", Optional.empty())
                .sample("infer", Optional.empty())
                .after(ofSeconds(61));
        state = new EditedState(story);
        trainsOn("train-g0", "infer-g1");
        state.owner("infer-g2", new Owner.Sleeping(CHAT));
        String silent = "2 of 2 nodes do not report, more than 40 %, so the fault is likely in the reporting path";

        assertRefused(reclaim(allocation("train-g0"), "infer-g1"), silent);
        assertRefused(new Action.Serve(CHAT, gpus("infer-g3"), false), silent);
        assertRefused(idle("infer-g2"), silent);
        assertRefused(lend(allocation("infer-g1", "infer-g3", "train-g0"), "infer-g3"), silent);
    }
}

package io.lendstream.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.actuation.NameExchange;
import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.event.Timings;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Owner;
import io.lendstream.simulator.workload.Demand;
import io.lendstream.simulator.workload.GpusByNode;
import io.lendstream.simulator.workload.GroundTruth;
import io.lendstream.simulator.workload.Request;
import io.lendstream.simulator.workload.ServiceLoad;
import io.lendstream.simulator.workload.StepTime;
import io.lendstream.simulator.workload.TrainingTask;
import io.lendstream.simulator.workload.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class WorldTest {
    private static final DomainId DOMAIN = new DomainId("test");
    private static final Instant START = Workload.EPOCH;
    private static final JobId JOB = new JobId("job");
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final GpuId G0 = new GpuId("g0");
    private static final GpuId G1 = new GpuId("g1");
    private static final Node NODE = new Node(
            new NodeId("node"),
            DOMAIN,
            Pool.INFERENCE,
            "boot",
            START,
            NodeStatus.READY,
            IntStream.range(0, 4)
                    .mapToObj(i -> Gpu.whole(new GpuId("g" + i), i, "test GPU", 80L << 30))
                    .toList());

    private long decided;

    private static Instant at(double seconds) {
        return START.plusMillis(Math.round(seconds * 1000));
    }

    /**
     * A job of 100 iterations of one second: synchronisation is free, and gradients are so noisy that on two GPUs, with
     * a batch of twice the size, each teaches twice as much.
     */
    private static TrainingTask hundredSecondsOfWork(double submit) {
        BatchRange batch = new BatchRange(10, 1000, 1, 10, Optional.empty());
        ThroughputParameters throughput = new ThroughputParameters(0, 0.1, 0, 0, 0, 0, 1);
        TrainingJob job = new TrainingJob(
                JOB,
                DOMAIN,
                at(submit),
                "test",
                new TrainingJob.Scaling(1, 1, 4, true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        batch,
                        new GoodputProfile(throughput, new GradientNoise(0, 1)),
                        new RescaleCosts(Duration.ofSeconds(20), Duration.ofSeconds(2))),
                "simulated",
                Optional.empty());
        return new TrainingTask(job, new OneSecondSteps());
    }

    private record OneSecondSteps() implements GroundTruth {
        @Override
        public StepTime stepTime(GpusByNode placement, int localBatch) {
            return new StepTime(1, 0);
        }

        @Override
        public int epochs() {
            return 4;
        }

        @Override
        public double progressAfter(int epoch) {
            return 25 * (epoch + 1);
        }

        @Override
        public GradientNoise noise(int epoch, int totalBatch) {
            return new GradientNoise(0, 1);
        }
    }

    private static ServiceLoad requests(Request... requests) {
        return new ServiceLoad(
                new InferenceService(
                        CHAT,
                        DOMAIN,
                        START,
                        List.of("chat"),
                        Duration.ofSeconds(10),
                        0.2,
                        Optional.of(1),
                        0,
                        Duration.ofSeconds(8)),
                new Demand.Requests(List.of(requests), START));
    }

    private static Request request(String name, double at, int seconds) {
        return new Request(name, at(at), Duration.ofSeconds(seconds));
    }

    private static World world(List<TrainingTask> tasks, List<ServiceLoad> loads) {
        World world = new World(new Workload("test", START, tasks, loads), WorldSettings.of(1));
        world.onNode(NODE);
        return world;
    }

    private Decision decide(World world, double at, Action action) {
        Decision decision = new Decision(
                new DecisionId(DOMAIN, 1, ++decided),
                at(at),
                at(at + 60),
                false,
                new Reason("test", "test", Map.of(), List.of()),
                action);
        world.onDecision(decision);
        return decision;
    }

    private static Allocation on(GpuId... gpus) {
        return gpus.length == 0
                ? Allocation.suspended(Mechanism.AFE)
                : new Allocation(List.of(gpus), 10, 0, 1, Mechanism.AFE);
    }

    private static void report(World world, Decision decision, double at, Outcome outcome, GpuId... gpus) {
        Tenant tenant = decision.action() instanceof Action.Serve || decision.action() instanceof Action.Idle
                ? new Tenant.Service(CHAT)
                : new Tenant.Job(JOB);
        world.onReport(new ActuationReport(
                DOMAIN, decision.id(), "test", at(at), outcome, List.of(gpus), Optional.of(tenant), Timings.NONE, ""));
    }

    private static List<Event> runUntil(World world, double seconds) {
        List<Event> events = new ArrayList<>();
        while (world.nextEventAt().filter(next -> !next.isAfter(at(seconds))).isPresent()) {
            events.addAll(world.advance(world.nextEventAt().orElseThrow()));
        }
        events.addAll(world.advance(at(seconds)));
        return events;
    }

    private static List<TrainingProgress> progress(List<Event> events) {
        return events.stream()
                .filter(TrainingProgress.class::isInstance)
                .map(TrainingProgress.class::cast)
                .toList();
    }

    private static List<RequestRate> rates(List<Event> events) {
        return events.stream()
                .filter(RequestRate.class::isInstance)
                .map(RequestRate.class::cast)
                .toList();
    }

    @Test
    void aJobWithoutGpusIsWithdrawnAtItsHardDeadline() {
        TrainingTask task = hundredSecondsOfWork(5);
        World world =
                world(List.of(new TrainingTask(task.job().due(at(50), DeadlineKind.HARD), task.truth())), List.of());

        List<TrainingProgress> said = progress(runUntil(world, 200));

        assertThat(said).extracting(TrainingProgress::phase).containsExactly(JobPhase.QUEUED, JobPhase.CANCELLED);
        assertThat(said).extracting(TrainingProgress::at).containsExactly(at(5), at(50));
        JobResult result = world.results().jobs().get(0);
        assertThat(result.completed()).contains(at(50));
        assertThat(result.missedDeadline(at(200))).isTrue();
        assertThat(world.finished()).isTrue();
    }

    @Test
    void aJobThatTrainsGoesOnBeyondItsHardDeadline() {
        TrainingTask task = hundredSecondsOfWork(5);
        World world =
                world(List.of(new TrainingTask(task.job().due(at(50), DeadlineKind.HARD), task.truth())), List.of());
        runUntil(world, 10);
        Decision lend = decide(world, 10, new Action.Lend(JOB, List.of(G0), at(600), on(G0)));
        report(world, lend, 10, Outcome.ACCEPTED, G0);
        report(world, lend, 13, Outcome.BOUND, G0);
        report(world, lend, 30, Outcome.APPLIED, G0);

        runUntil(world, 200);

        JobResult result = world.results().jobs().get(0);
        assertThat(result.phase()).isEqualTo(JobPhase.FINISHED);
        assertThat(result.completed()).contains(at(130));
        assertThat(result.metDeadline()).isFalse();
    }

    @Test
    void aJobCompletesExactlyWhenItsWorkIsDone() {
        World world = world(List.of(hundredSecondsOfWork(5)), List.of());
        runUntil(world, 10);
        Decision lend = decide(world, 10, new Action.Lend(JOB, List.of(G0), at(600), on(G0)));
        report(world, lend, 10, Outcome.ACCEPTED, G0);
        report(world, lend, 13, Outcome.BOUND, G0);
        report(world, lend, 30, Outcome.APPLIED, G0);

        List<TrainingProgress> said = progress(runUntil(world, 200));

        assertThat(said)
                .extracting(TrainingProgress::phase)
                .containsExactly(
                        JobPhase.RESCALING, JobPhase.RUNNING, JobPhase.RUNNING, JobPhase.RUNNING, JobPhase.FINISHED);
        assertThat(said).extracting(TrainingProgress::at).containsExactly(at(10), at(30), at(60), at(120), at(130));
        assertThat(said.get(2).progress()).isCloseTo(30, within(1e-6));
        assertThat(said.get(2).timing().stepSeconds().orElseThrow()).isCloseTo(1, within(1e-6));
        JobResult result = world.results().jobs().get(0);
        assertThat(result.started()).contains(at(10));
        assertThat(result.completed()).contains(at(130));
        assertThat(result.restarts()).isZero();
        assertThat(world.results().rescalingGpuSeconds()).isPositive();
        assertThat(world.results().startingGpuSeconds())
                .hasValueCloseTo(world.results().rescalingGpuSeconds(), within(1e-6));
        assertThat(world.finished()).isTrue();
        assertThat(world.nextEventAt()).isEmpty();
    }

    @Test
    void reportsOnGpusOfANodeThatIsNotKnownYetCountOnceItIs() {
        World world = new World(
                new Workload("test", START, List.of(hundredSecondsOfWork(5)), List.of()), WorldSettings.of(1));
        runUntil(world, 10);
        Decision lend = decide(world, 10, new Action.Lend(JOB, List.of(G0), at(600), on(G0)));
        report(world, lend, 10, Outcome.ACCEPTED, G0);
        report(world, lend, 13, Outcome.BOUND, G0);
        world.onNode(NODE);
        report(world, lend, 30, Outcome.APPLIED, G0);

        runUntil(world, 200);

        assertThat(world.results().jobs().get(0).completed()).contains(at(130));
    }

    /** For example of a release before the cut, which a load generator reads that started after it. */
    @Test
    void aLateReportAboutAGpuThatIsCutHoldsUpNoOther() {
        World world = world(List.of(hundredSecondsOfWork(0)), List.of());
        Gpu cut = Gpu.whole(new GpuId("cut"), 0, "NVIDIA A100-SXM4-80GB", 80L << 30)
                .cutInto(List.of(new GpuInstance(new GpuId("cut/4:4"), "3g.40gb", 4, 4, 40L << 30, Optional.empty())));
        world.onNode(
                new Node(new NodeId("other"), DOMAIN, Pool.INFERENCE, "boot", START, NodeStatus.READY, List.of(cut)));
        runUntil(world, 0);
        Decision before = decide(world, 0, new Action.Idle(CHAT, List.of(cut.gpuId()), at(60)));
        report(world, before, 0, Outcome.RELEASED, cut.gpuId());
        Decision lend = decide(world, 0, new Action.Lend(JOB, List.of(G0), at(600), on(G0)));
        report(world, lend, 0, Outcome.ACCEPTED, G0);
        report(world, lend, 0, Outcome.APPLIED, G0);

        runUntil(world, 200);

        assertThat(world.results().jobs().get(0).completed()).contains(at(100));
    }

    @Test
    void aJobPausesWhileItsGpusChangeAndGoesOnFaster() {
        World world = world(List.of(hundredSecondsOfWork(0)), List.of());
        runUntil(world, 0);
        Decision first = decide(world, 0, new Action.Lend(JOB, List.of(G0), at(600), on(G0)));
        report(world, first, 0, Outcome.ACCEPTED, G0);
        report(world, first, 0, Outcome.APPLIED, G0);
        runUntil(world, 40);
        Decision grow = decide(world, 40, new Action.Lend(JOB, List.of(G1), at(600), on(G0, G1)));
        report(world, grow, 40, Outcome.ACCEPTED, G1);
        runUntil(world, 50);
        report(world, grow, 50, Outcome.APPLIED, G0, G1);

        runUntil(world, 200);

        // 40 iterations by 40 s, none until 50 s, the other 60 at twice the speed.
        JobResult result = world.results().jobs().get(0);
        assertThat(result.completed()).contains(at(80));
        assertThat(result.restarts()).isEqualTo(1);
        assertThat(result.gpuSeconds()).isCloseTo(40 + 40 * 2, within(1e-6));
        assertThat(world.results().rescalingGpuSeconds()).isCloseTo(20, within(1e-6));
        assertThat(world.results().startingGpuSeconds()).hasValueCloseTo(0.0, within(1e-6));
    }

    private static TrainingTask gangOfAHundredSecondsOfWork() {
        TrainingTask task = hundredSecondsOfWork(0);
        return new TrainingTask(task.job().shaped(JobShape.ANY.together()), task.truth());
    }

    /** The GPUs are of two actuators, of which one is ready first. */
    @Test
    void aGangTrainsOnceTheLastOfItsGpusIsUp() {
        World world = world(List.of(gangOfAHundredSecondsOfWork()), List.of());
        runUntil(world, 0);
        Decision lend = decide(world, 0, new Action.Lend(JOB, List.of(G0, G1), at(600), on(G0, G1)));
        report(world, lend, 0, Outcome.ACCEPTED, G0);
        report(world, lend, 0, Outcome.ACCEPTED, G1);
        report(world, lend, 2, Outcome.BOUND, G0);
        report(world, lend, 3, Outcome.APPLIED, G0);
        List<TrainingProgress> waiting = progress(runUntil(world, 10));
        report(world, lend, 10, Outcome.BOUND, G1);

        runUntil(world, 200);

        assertThat(waiting).extracting(TrainingProgress::phase).containsOnly(JobPhase.RESCALING);
        assertThat(world.results().jobs().get(0).completed()).contains(at(60));
    }

    @Test
    void aGangOfWhichAGpuFailsDoesNotStart() {
        World world = world(List.of(gangOfAHundredSecondsOfWork()), List.of());
        runUntil(world, 0);
        Decision lend = decide(world, 0, new Action.Lend(JOB, List.of(G0, G1), at(600), on(G0, G1)));
        report(world, lend, 0, Outcome.ACCEPTED, G0, G1);
        report(world, lend, 2, Outcome.BOUND, G0);
        report(world, lend, 3, Outcome.FAILED, G1);
        report(world, lend, 4, Outcome.APPLIED, G0);

        List<TrainingProgress> said = progress(runUntil(world, 100));

        assertThat(said).extracting(TrainingProgress::phase).containsExactly(JobPhase.RESCALING, JobPhase.QUEUED);
    }

    /** Another elastic job would go on at once. */
    @Test
    void aGangThatLosesAGpuWaitsForADecision() {
        World world = world(List.of(gangOfAHundredSecondsOfWork()), List.of());
        runUntil(world, 0);
        Decision lend = decide(world, 0, new Action.Lend(JOB, List.of(G0, G1), at(600), on(G0, G1)));
        report(world, lend, 0, Outcome.ACCEPTED, G0, G1);
        report(world, lend, 10, Outcome.BOUND, G0, G1);
        report(world, lend, 10, Outcome.APPLIED, G0, G1);
        runUntil(world, 20);
        report(world, lend, 20, Outcome.RELEASED, G1);
        runUntil(world, 30);
        Decision resize = decide(world, 30, new Action.Resize(JOB, List.of(G1), on(G0)));
        report(world, resize, 30, Outcome.ACCEPTED, G1);
        report(world, resize, 32, Outcome.APPLIED, G1);

        runUntil(world, 200);

        // 20 iterations by 20 s, none until 32 s, the other 80 on one GPU.
        assertThat(world.results().jobs().get(0).completed()).contains(at(112));
    }

    @Test
    void reportsThatComeLateTakeEffectAtTheirOwnTime() {
        World world = world(List.of(hundredSecondsOfWork(0)), List.of());
        world.advance(at(0));
        Decision first = decide(world, 1, new Action.Lend(JOB, List.of(G0), at(600), on(G0)));
        world.advance(at(5));
        report(world, first, 1, Outcome.ACCEPTED, G0);
        report(world, first, 3, Outcome.APPLIED, G0);

        runUntil(world, 200);

        assertThat(world.results().jobs().get(0).completed()).contains(at(103));
    }

    @Test
    void aReportMayComeBeforeItsDecision() {
        World world = world(List.of(hundredSecondsOfWork(0)), List.of());
        world.advance(at(0));
        Action lend = new Action.Lend(JOB, List.of(G0), at(600), on(G0));
        Decision unknown = new Decision(
                new DecisionId(DOMAIN, 1, 1), at(0), at(60), false, new Reason("", "", Map.of(), List.of()), lend);
        report(world, unknown, 0, Outcome.ACCEPTED, G0);
        report(world, unknown, 2, Outcome.APPLIED, G0);
        world.onDecision(unknown);

        runUntil(world, 200);

        assertThat(world.results().jobs().get(0).completed()).contains(at(102));
    }

    /** A job that has trained for 30 s and is paused in the memory of its node. */
    private World paused() {
        World world = world(List.of(hundredSecondsOfWork(0)), List.of());
        world.advance(at(0));
        Decision lend = decide(world, 0, new Action.Lend(JOB, List.of(G0), at(600), on(G0)));
        report(world, lend, 0, Outcome.ACCEPTED, G0);
        report(world, lend, 0, Outcome.APPLIED, G0);
        runUntil(world, 30);
        Decision pause =
                decide(world, 30, new Action.Reclaim(JOB, List.of(G0), at(75), Allocation.suspended(Mechanism.PAUSE)));
        report(world, pause, 30, Outcome.ACCEPTED);
        report(world, pause, 34, Outcome.RELEASED, G0);
        report(world, pause, 34, Outcome.APPLIED);
        return world;
    }

    private static TrainingProgress last(List<Event> events) {
        List<TrainingProgress> said = progress(events);
        return said.get(said.size() - 1);
    }

    @Test
    void aPausedJobGoesOnWhereItWas() {
        World world = paused();
        TrainingProgress said = last(runUntil(world, 60));
        assertThat(said.phase()).isEqualTo(JobPhase.PAUSED);
        assertThat(said.progress()).isCloseTo(30, within(1e-6));

        Decision resume = decide(
                world,
                60,
                new Action.Lend(JOB, List.of(G1), at(600), new Allocation(List.of(G1), 10, 0, 1, Mechanism.PAUSE)));
        report(world, resume, 60, Outcome.ACCEPTED, G1);
        report(world, resume, 65, Outcome.APPLIED, G1);
        runUntil(world, 200);

        JobResult result = world.results().jobs().get(0);
        assertThat(result.completed()).contains(at(135));
        assertThat(result.inPlace()).isEqualTo(1);
    }

    @Test
    void aPausedJobLosesItsWorkWithItsNode() {
        World world = paused();
        runUntil(world, 60);

        world.onNodeLost(NODE.nodeId(), at(60));

        TrainingProgress said = last(runUntil(world, 61));
        assertThat(said.phase()).isEqualTo(JobPhase.QUEUED);
        assertThat(said.progress()).isZero();
    }

    @Test
    void aPausedJobLosesItsWorkWithItsPause() {
        World world = paused();
        Decision end = decide(world, 40, new Action.Resize(JOB, List.of(), Allocation.suspended(Mechanism.RESTART)));
        report(world, end, 40, Outcome.ACCEPTED);
        report(world, end, 40, Outcome.APPLIED);

        TrainingProgress said = last(runUntil(world, 61));

        assertThat(said.phase()).isEqualTo(JobPhase.QUEUED);
        assertThat(said.progress()).isZero();
    }

    @Test
    void aLeaseThatRunsOutTakesTheGpuAtOnce() {
        World world = world(List.of(hundredSecondsOfWork(0)), List.of());
        world.advance(at(0));
        Decision lend = decide(world, 0, new Action.Lend(JOB, List.of(G0), at(600), on(G0)));
        report(world, lend, 0, Outcome.ACCEPTED, G0);
        report(world, lend, 0, Outcome.APPLIED, G0);
        runUntil(world, 30);
        report(world, lend, 30, Outcome.RELEASED, G0);

        List<TrainingProgress> said = progress(runUntil(world, 100));

        assertThat(said.get(said.size() - 1).phase()).isEqualTo(JobPhase.QUEUED);
        assertThat(said.get(said.size() - 1).progress()).isCloseTo(30, within(1e-6));
        assertThat(world.results().lentGpuSeconds()).isCloseTo(30, within(1e-6));
    }

    @Test
    void aJobKeepsItsGpuAndItsLoanUnderAnotherName() {
        World world = world(List.of(hundredSecondsOfWork(0)), List.of());
        world.advance(at(0));
        Decision lend = decide(world, 0, new Action.Lend(JOB, List.of(G0), at(600), on(G0)));
        report(world, lend, 0, Outcome.ACCEPTED, G0);
        report(world, lend, 0, Outcome.APPLIED, G0);
        runUntil(world, 10);

        world.exchange(new NameExchange(G0, Optional.of(new Tenant.Job(JOB)), G1, Optional.empty()));
        report(world, lend, 20, Outcome.RELEASED, G0);
        runUntil(world, 30);
        report(world, lend, 30, Outcome.RELEASED, G1);

        runUntil(world, 60);
        JobResult result = world.results().jobs().get(0);
        assertThat(result.done()).isCloseTo(.3, within(1e-6));
        assertThat(result.gpuSeconds()).isCloseTo(30, within(1e-6));
        assertThat(world.results().lentGpuSeconds()).isCloseTo(30, within(1e-6));
    }

    @Test
    void aReplicaServesUnderAnotherName() {
        World world = world(List.of(), List.of(requests(request("r1", 30, 4), request("r2", 50, 4))));
        runUntil(world, 0);
        Decision serve = decide(world, 0, new Action.Serve(CHAT, List.of(G0), false));
        report(world, serve, 0, Outcome.ACCEPTED, G0);
        world.exchange(new NameExchange(G1, Optional.empty(), G0, Optional.of(new Tenant.Service(CHAT))));
        report(world, serve, 8, Outcome.BOUND, G1);
        runUntil(world, 31);
        world.exchange(new NameExchange(G1, Optional.of(new Tenant.Service(CHAT)), G0, Optional.empty()));
        runUntil(world, 40);
        report(world, serve, 40, Outcome.RELEASED, G0);
        runUntil(world, 60);

        assertThat(world.results().requests()).singleElement().satisfies(answered -> {
            assertThat(answered.name()).isEqualTo("r1");
            assertThat(answered.overhead()).isZero();
        });
    }

    @Test
    void aRequestWithoutAReplicaIsReportedAtOnceAndWaitsForOneToComeUp() {
        World world = world(List.of(), List.of(requests(request("r1", 7, 4), request("r2", 20, 3))));

        List<RequestRate> said = rates(runUntil(world, 7));

        assertThat(said).hasSize(1);
        assertThat(said.get(0).at()).isEqualTo(at(7));
        assertThat(said.get(0).requests().queueDepth()).isEqualTo(1);
        assertThat(said.get(0).requests().inFlight()).isZero();

        Decision serve = decide(world, 9, new Action.Serve(CHAT, List.of(G0), false));
        runUntil(world, 9);
        report(world, serve, 9, Outcome.ACCEPTED, G0);
        runUntil(world, 17);
        report(world, serve, 17, Outcome.BOUND, G0);
        runUntil(world, 60);

        RequestResult cold = world.results().requests().get(0);
        assertThat(cold.coldStart()).isTrue();
        assertThat(cold.started()).isEqualTo(at(9));
        assertThat(cold.completed()).isEqualTo(at(21));
        assertThat(cold.startDelay()).isEqualTo(Duration.ofSeconds(2));
        assertThat(cold.overhead()).isEqualTo(Duration.ofSeconds(10));
        RequestResult queued = world.results().requests().get(1);
        assertThat(queued.coldStart()).isFalse();
        assertThat(queued.started()).isEqualTo(at(21));
        assertThat(queued.completed()).isEqualTo(at(24));
        assertThat(world.finished()).isTrue();
    }

    @Test
    void aRequestThatFindsAWarmReplicaIsAnsweredWithoutDelay() {
        World world = world(List.of(), List.of(requests(request("r1", 30, 4))));
        runUntil(world, 0);
        Decision serve = decide(world, 0, new Action.Serve(CHAT, List.of(G0), false));
        report(world, serve, 0, Outcome.ACCEPTED, G0);
        report(world, serve, 8, Outcome.BOUND, G0);

        List<RequestRate> said = rates(runUntil(world, 45));

        assertThat(world.results().requests().get(0).overhead()).isZero();
        assertThat(world.results().requests().get(0).coldStart()).isFalse();
        assertThat(said).extracting(RequestRate::at).containsExactly(at(15), at(30), at(34), at(45));
        assertThat(said).extracting(rate -> rate.requests().inFlight()).containsExactly(0, 1, 0, 0);
        assertThat(said).extracting(rate -> rate.requests().arrivals()).containsExactly(0L, 1L, 0L, 0L);
        assertThat(said).extracting(RequestRate::sequence).containsExactly(1L, 2L, 3L, 4L);
    }

    /** A request after 30 s, and a replica on a GPU that sleeps from 20 s on; a service may declare a time to wake. */
    private static ServiceLoad waking(Optional<Duration> asleep) {
        ServiceLoad load = requests(request("r1", 30, 4));
        ReplicaShape shape = ReplicaShape.of("one", 1, 1, 1, Duration.ofSeconds(8))
                .starting(new StartTimes(Duration.ofSeconds(8), Optional.empty(), asleep));
        return new ServiceLoad(load.service().inShapes(List.of(shape)), load.demand());
    }

    private World asleep(Optional<Duration> time) {
        World world = world(List.of(), List.of(waking(time)));
        runUntil(world, 0);
        Decision serve = decide(world, 0, new Action.Serve(CHAT, List.of(G0), false));
        report(world, serve, 0, Outcome.ACCEPTED, G0);
        report(world, serve, 8, Outcome.BOUND, G0);
        runUntil(world, 20);
        world.onOwner(G0, new Owner.Sleeping(CHAT), at(20));
        return world;
    }

    private void wake(World world, double at) {
        Decision wake = decide(world, at, new Action.Serve(CHAT, List.of(G0), true));
        report(world, wake, at, Outcome.ACCEPTED, G0);
    }

    @Test
    void aSleepingReplicaTakesRequestsOnceItIsAwake() {
        World world = asleep(Optional.of(Duration.ofSeconds(5)));
        RequestRate said = rates(runUntil(world, 30)).get(0);
        wake(world, 31);
        runUntil(world, 60);

        assertThat(said.requests().queueDepth()).isEqualTo(1);
        RequestResult answered = world.results().requests().get(0);
        assertThat(answered.started()).isEqualTo(at(31));
        assertThat(answered.completed()).isEqualTo(at(40));
        assertThat(answered.overhead()).isEqualTo(Duration.ofSeconds(6));
    }

    @Test
    void aReplicaThatNeedsNoTimeToWakeTakesRequestsAllTheTime() {
        World world = asleep(Optional.empty());
        runUntil(world, 60);

        assertThat(world.results().requests().get(0).completed()).isEqualTo(at(34));
    }

    @Test
    void aReplicaThatSleepsAgainBeforeItIsAwakeTakesNoRequests() {
        World world = asleep(Optional.of(Duration.ofSeconds(5)));
        wake(world, 25);
        world.onOwner(G0, new Owner.Sleeping(CHAT), at(27));
        runUntil(world, 40);
        wake(world, 40);
        runUntil(world, 60);

        assertThat(world.results().requests().get(0).completed()).isEqualTo(at(49));
    }

    @Test
    void aRequestHasItsGpuThoughAnotherReplicaAnswersItFirst() {
        World world = world(List.of(), List.of(requests(request("r1", 20, 5), request("r2", 21, 3))));
        runUntil(world, 0);
        Decision first = decide(world, 0, new Action.Serve(CHAT, List.of(G0), false));
        report(world, first, 0, Outcome.ACCEPTED, G0);
        report(world, first, 8, Outcome.BOUND, G0);
        runUntil(world, 22);
        Decision second = decide(world, 22, new Action.Serve(CHAT, List.of(G1), false));
        report(world, second, 22, Outcome.ACCEPTED, G1);
        runUntil(world, 30);
        report(world, second, 30, Outcome.BOUND, G1);

        RequestResult waited = world.results().requests().get(1);

        assertThat(waited.name()).isEqualTo("r2");
        assertThat(waited.startDelay()).isEqualTo(Duration.ofSeconds(1));
        assertThat(waited.completed()).isEqualTo(at(28));
        assertThat(waited.overhead()).isEqualTo(Duration.ofSeconds(4));
        assertThat(waited.coldStart()).isFalse();
    }

    @Test
    void aReplicaThatIsToStopTakesNoNewRequest() {
        World world = world(List.of(), List.of(requests(request("r1", 30, 4))));
        runUntil(world, 0);
        Decision serve = decide(world, 0, new Action.Serve(CHAT, List.of(G0), false));
        report(world, serve, 0, Outcome.ACCEPTED, G0);
        report(world, serve, 8, Outcome.BOUND, G0);
        runUntil(world, 29);
        Decision idle = decide(world, 29, new Action.Idle(CHAT, List.of(G0), at(59)));
        report(world, idle, 29, Outcome.ACCEPTED, G0);

        RequestRate last = rates(runUntil(world, 30)).get(0);

        assertThat(last.requests().queueDepth()).isEqualTo(1);
    }

    @Test
    void ratesWaitForCapacityInTheOrderOfArrival() {
        Demand.Rates tenPerSecond =
                new Demand.Rates(START, Duration.ofMinutes(1), Collections.nCopies(10, 10.0), 0, 0.05);
        ServiceLoad load = new ServiceLoad(
                new InferenceService(
                        CHAT,
                        DOMAIN,
                        START,
                        List.of("chat"),
                        Duration.ofMillis(500),
                        20,
                        Optional.empty(),
                        1,
                        Duration.ofSeconds(8)),
                tenPerSecond);
        World world = world(List.of(), List.of(load));
        RequestRate first = rates(runUntil(world, 10)).get(0);
        Decision serve = decide(world, 10, new Action.Serve(CHAT, List.of(G0), false));
        report(world, serve, 10, Outcome.ACCEPTED, G0);
        report(world, serve, 20, Outcome.BOUND, G0);

        runUntil(world, 600);

        // Without a replica the first slot of five seconds already has more than can be answered.
        assertThat(first.at()).isEqualTo(at(5));
        assertThat(first.requests().queueDepth())
                .isEqualTo((int) first.requests().arrivals());
        ServiceResult result = world.results().services().get(0);
        assertThat(result.requests()).isBetween(5700.0, 6300.0);
        assertThat(result.coldStarts()).isEqualTo(1);
        // Twenty seconds of backlog, worked off at twice the rate: the first waits 20 s, all after 40 s do not.
        assertThat(result.startDelaySeconds().max()).isBetween(18.0, 21.0);
        assertThat(result.withinSlo() / result.requests()).isBetween(.9, .95);
    }
}

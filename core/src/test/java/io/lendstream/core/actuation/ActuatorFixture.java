package io.lendstream.core.actuation;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.ScriptedDriver;
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
import io.lendstream.core.simulated.ChangeTiming;
import io.lendstream.core.simulated.DelayModel;
import io.lendstream.core.simulated.SimulatedDriver;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * An actuator of the domain {@code d}: node {@code training} has the GPUs t1..t4, node {@code inference} has i1..i4.
 *
 * <p>Times are seconds after noon, and a decision's deadline is a minute after it was made. The log has a line for each
 * report: second, decision, outcome, GPUs and, in parentheses, the reason.
 */
final class ActuatorFixture {
    static final DomainId DOMAIN = new DomainId("d");
    static final Tenant.Job BERT = new Tenant.Job(new JobId("bert"));
    static final Tenant.Job GPT = new Tenant.Job(new JobId("gpt"));
    static final Tenant.Service CHAT = new Tenant.Service(new ServiceId("chat"));
    static final Node TRAINING = node(DOMAIN, "training", Pool.TRAINING, "t1", "t2", "t3", "t4");
    static final Node INFERENCE = node(DOMAIN, "inference", Pool.INFERENCE, "i1", "i2", "i3", "i4");

    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final Duration NOTICE = Duration.ofSeconds(45);

    final List<String> log = new ArrayList<>();
    private final Supplier<ChangeDriver> driver;
    private Actuation actuation;
    private long sequence;

    /** One whose driver is simulated. */
    ActuatorFixture(DelayModel delays) {
        this(() -> new SimulatedDriver(delays));
    }

    /** An actuator with a driver, which is requested again after a restart. */
    ActuatorFixture(Supplier<ChangeDriver> driver) {
        this.driver = driver;
        this.actuation = new Actuation("a", NOTICE, driver.get());
        tell();
    }

    /** One whose drivers tell what they have done. */
    static ActuatorFixture driven() {
        return new ActuatorFixture(() -> ScriptedDriver.ABLE);
    }

    Actuation actuation() {
        return actuation;
    }

    /** Starts it again from its snapshot; returns what its drivers are ordered then. */
    List<Order> restart(double second) {
        actuation = restored();
        tell();
        return actuation.resume(at(second), true);
    }

    /** What it is right after a start, before any node is declared to it. */
    Actuation restored() {
        return Actuation.restore("a", NOTICE, driver.get(), actuation.snapshot());
    }

    private void tell() {
        actuation.know(TRAINING);
        actuation.know(INFERENCE);
    }

    DecisionId take(double second, Action action) {
        return take(second, second + 60, action);
    }

    DecisionId take(double second, double deadline, Action action) {
        DecisionId id = new DecisionId(DOMAIN, 1, ++sequence);
        note(actuation.take(decision(id, second, deadline, false, action), at(second)));
        return id;
    }

    /** The reports on a decision with its own name. */
    List<ActuationReport> take(DecisionId id, double second, boolean advisory, Action action) {
        return note(actuation.take(decision(id, second, second + 60, advisory, action), at(second)));
    }

    List<ActuationReport> done(double second, DriverEvent driverEvent) {
        return note(actuation.done(driverEvent, at(second)));
    }

    List<ActuationReport> advance(double second) {
        return note(actuation.advance(at(second)));
    }

    private List<ActuationReport> note(List<ActuationReport> reports) {
        reports.forEach(report -> log.add(line(report)));
        return reports;
    }

    /** Who has which GPU, such as {@code t1 bert BOUND}. */
    List<String> holdings() {
        return actuation.holdings().stream()
                .map(holding -> "%s %s %s".formatted(holding.gpu(), name(holding.tenant()), holding.phase()))
                .toList();
    }

    /** Until when which GPU is on loan, by which decision: {@code i1 d/1/1 400}. */
    List<String> loans() {
        return actuation.holdings().stream()
                .flatMap(holding -> holding.loan().stream()
                        .map(loan -> "%s %s %s".formatted(holding.gpu(), loan.granted(), second(loan.until()))))
                .toList();
    }

    private static String name(Tenant tenant) {
        return tenant instanceof Tenant.Job job
                ? job.job().value()
                : ((Tenant.Service) tenant).service().value();
    }

    private static String line(ActuationReport report) {
        String gpus = String.join(",", report.gpus().stream().map(GpuId::value).toList());
        return "%s %s %s %s%s"
                .formatted(
                        second(report.at()),
                        report.decision(),
                        report.outcome(),
                        gpus.isEmpty() ? "-" : gpus,
                        report.reason().isEmpty() ? "" : " (" + report.reason() + ")");
    }

    private static String second(Instant at) {
        double second = Duration.between(NOON, at).toMillis() / 1000.0;
        return second == Math.rint(second) ? String.valueOf((long) second) : String.valueOf(second);
    }

    private static Decision decision(DecisionId id, double second, double deadline, boolean advisory, Action action) {
        return new Decision(
                id, at(second), at(deadline), advisory, new Reason("test", "", Map.of(), List.of()), action);
    }

    static Action resize(Tenant.Job job, List<GpuId> gpus, String... allocation) {
        return new Action.Resize(job.job(), gpus, allocation(allocation));
    }

    static Action lend(Tenant.Job job, double until, List<GpuId> gpus, String... allocation) {
        return new Action.Lend(job.job(), gpus, at(until), allocation(allocation));
    }

    static Action reclaim(Tenant.Job job, double by, List<GpuId> gpus, String... allocation) {
        return new Action.Reclaim(job.job(), gpus, at(by), allocation(allocation));
    }

    static Action serve(String... gpus) {
        return new Action.Serve(CHAT.service(), gpus(gpus), false);
    }

    static Action idle(double by, String... gpus) {
        return new Action.Idle(CHAT.service(), gpus(gpus), at(by));
    }

    static Allocation allocation(String... gpus) {
        return new Allocation(gpus(gpus), gpus.length == 0 ? 0 : 10, 0, 1, Mechanism.AFE);
    }

    static List<GpuId> gpus(String... names) {
        return Arrays.stream(names).map(GpuId::new).toList();
    }

    static Instant at(double second) {
        return NOON.plusMillis(Math.round(second * 1000));
    }

    static Node node(DomainId domain, String name, Pool pool, String... gpus) {
        var inventory = new ArrayList<Gpu>();
        for (String gpu : gpus) {
            inventory.add(Gpu.whole(new GpuId(gpu), inventory.size(), "A100", 80L << 30));
        }
        return new Node(new NodeId(name), domain, pool, "boot", NOON, NodeStatus.READY, inventory);
    }

    static TrainingJob job(Tenant.Job job, boolean elastic) {
        return job(job, elastic, Duration.ofSeconds(20));
    }

    /** One that takes so long to start. */
    static TrainingJob job(Tenant.Job job, boolean elastic, Duration start) {
        return new TrainingJob(
                job.job(),
                DOMAIN,
                NOON,
                "cifar10",
                new TrainingJob.Scaling(1, 1, 8, elastic),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(10, 1000, 1, 100, Optional.empty()),
                        new GoodputProfile(new ThroughputParameters(0.1, 0.04, 0, 0, 0, 0, 1), new GradientNoise(1, 1)),
                        new RescaleCosts(start, Duration.ofSeconds(2))),
                "simulated",
                Optional.empty());
    }

    static InferenceService service() {
        return new InferenceService(
                CHAT.service(),
                DOMAIN,
                NOON,
                List.of(),
                Duration.ofMillis(200),
                10,
                Optional.empty(),
                0,
                Duration.ofSeconds(6));
    }

    /** All goes well, and takes so many seconds. */
    static ChangeTiming changeTiming(double release, double bind, double ready) {
        return changeTiming(release, bind, ready, ChangeTiming.FailureMode.NONE);
    }

    static ChangeTiming changeTiming(double release, double bind, double ready, ChangeTiming.FailureMode failure) {
        return new ChangeTiming(seconds(release), seconds(bind), seconds(ready), failure);
    }

    static Duration seconds(double seconds) {
        return Duration.ofMillis(Math.round(seconds * 1000));
    }

    /** The kills among orders, in their order. */
    static List<Order> kills(List<Order> orders) {
        return orders.stream().filter(Order.Force.class::isInstance).toList();
    }
}

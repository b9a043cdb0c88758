package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.stack.ServiceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A real PyTorch job on the GPUs that a service leaves idle, with nothing between them but Kafka. */
@Timeout(value = 8, unit = TimeUnit.MINUTES)
final class ElasticTrainingIT {
    private static final DomainId DOMAIN = new DomainId("default");
    private static final JobId JOB = new JobId("example");
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final ServiceId STUBBORN = new ServiceId("stubborn");
    /** Shorter ones say nothing of how fast requests come. */
    private static final Duration WINDOW = Duration.ofSeconds(5);

    private static final Path PACKAGE =
            Path.of("../actuator/python").toAbsolutePath().normalize();

    @TempDir
    private Path directory;

    private Deployment deployment;
    private RecordWriter writer;
    private Instant told = now();
    private long windows;
    private long sequence;
    private int actuators;

    @BeforeEach
    void deploy() throws IOException {
        String python = TorchPython.find();
        Path jobs = Files.createDirectories(directory.resolve("programs/jobs"));
        Path services = Files.createDirectories(directory.resolve("programs/services"));
        Files.createDirectories(directory.resolve("log"));
        Files.writeString(jobs.resolve("example.json"), """
                {"mode": "afe", "environment": {"PYTHONPATH": "%s"},
                 "command": ["%s", "%s/examples/train.py", "--device", "cpu",
                             "--epochs", "1000000", "--step-seconds", "0.05",
                             "--log", "%s/log", "--checkpoint", "%s/checkpoint"]}
                """.formatted(PACKAGE, python, PACKAGE, directory, directory));
        String port = "1" + (100 + new Random().nextInt(900));
        Files.writeString(services.resolve("chat.json"), """
                {"command": ["%s", "-m", "http.server", "%s{index}", "--bind", "127.0.0.1"],
                 "ready": "http://127.0.0.1:%s{index}/"}
                """.formatted(python, port, port));
        Files.writeString(
                services.resolve("stubborn.json"),
                "{\"command\": [\"sh\", \"-c\", \"trap '' TERM; while :; do sleep 1; done\", \"%s\"]}"
                        .formatted(directory));
        deployment = new Deployment(1);
        writer = RecordWriter.open(deployment.kafka(), Deployment.TOPICS, "/test");
    }

    @AfterEach
    void endAll() {
        if (deployment != null) {
            writer.close();
            deployment.close();
            ours("").forEach(ProcessHandle::destroyForcibly);
        }
    }

    @Test
    void aSpikeTakesGpusBackFromTheJobAndWhenItIsOverTheJobGetsThemAgain() {
        start(
                ServiceKind.SCHEDULER,
                "--set",
                "kafka.processing.guarantee=at_least_once",
                "--set",
                "scheduler.policy=lendstream:plan-every=5s",
                "--set",
                "kafka.state.dir=" + directory.resolve("scheduler"));
        startActuator();
        start(
                ServiceKind.AGENT,
                "--backend",
                "simulated",
                "--nodes",
                "2",
                "--gpus-per-node",
                "2",
                "--training-nodes",
                "1",
                "--set",
                "agent.period=5s");
        writer.write(TopicCatalogue.SERVICES, CHAT.value(), chat());
        tellRate(0);
        writer.write(TopicCatalogue.TRAINING_JOBS, JOB.value(), job());
        awaitLeases(
                0,
                "the job on all four GPUs",
                leases -> held(leases, Owner.Lent.class) == 2 && held(leases, Owner.Training.class) == 2);
        awaitWorkers(4);

        Instant spike = tellRate(8);
        awaitLeases(8, "a replica", leases -> held(leases, Owner.Serving.class) >= 1);

        Decision reclaim = decision(action -> action instanceof Action.Reclaim, spike);
        ActuationReport released =
                report(Outcome.RELEASED, report -> report.decision().equals(reclaim.id()));
        ActuationReport bound = report(
                Outcome.BOUND,
                report ->
                        report.tenant().filter(new Tenant.Service(CHAT)::equals).isPresent());
        System.out.printf(
                "spike -> reclaim decided %d ms -> released %d ms -> replica bound %d ms%n",
                millis(spike, reclaim.at()), millis(reclaim.at(), released.at()), millis(released.at(), bound.at()));
        assertThat(released.at()).isBefore(bound.at());
        assertThat(millis(reclaim.at(), released.at())).as("release").isLessThan(10_000);
        awaitWorkers(4 - released.gpus().size());

        Instant calm = now();
        awaitLeases(
                0,
                "the job on all four GPUs again",
                leases -> held(leases, Owner.Lent.class) == 2 && held(leases, Owner.Training.class) == 2);
        System.out.printf("calm -> lent again %d ms%n", millis(calm, now()));
        awaitWorkers(4);
        assertThat(deployment.read(TopicCatalogue.TRAINING_PROGRESS))
                .extracting(progress -> progress.parallelism().replicas())
                .contains(4);
        deployment.awaitCleanHistory(DOMAIN);
    }

    @Test
    void anActuatorThatIsKilledInATransferFindsItsProcessesAgainAndDoesNothingTwice() throws Exception {
        start(
                ServiceKind.AGENT,
                "--backend",
                "simulated",
                "--nodes",
                "1",
                "--gpus-per-node",
                "4",
                "--training-nodes",
                "1",
                "--once");
        await().atMost(Deployment.PATIENCE)
                .until(() -> !deployment.read(TopicCatalogue.NODES).isEmpty());
        List<GpuId> gpus = deployment.read(TopicCatalogue.NODES).stream()
                .flatMap((Node node) -> node.gpus().stream())
                .map(Gpu::gpuId)
                .toList();
        writer.write(TopicCatalogue.TRAINING_JOBS, JOB.value(), job());
        Deployment.Running actuator = startActuator();
        Decision two = decide(1, 60, new Action.Resize(JOB, gpus.subList(0, 2), allocation(gpus.subList(0, 2))));
        awaitReport(two.id(), Outcome.APPLIED);
        List<Long> before = workers();
        assertThat(before).hasSize(2);

        Decision one = decide(1, 60, new Action.Resize(JOB, gpus.subList(1, 2), allocation(gpus.subList(0, 1))));
        awaitReport(one.id(), Outcome.ACCEPTED);
        actuator.process().destroyForcibly().waitFor();
        Deployment.Running second = startActuator();
        awaitReport(one.id(), Outcome.RELEASED);
        awaitReport(one.id(), Outcome.APPLIED);
        assertThat(workers()).as("the worker that stays").hasSize(1).isSubsetOf(before);

        writer.write(TopicCatalogue.DECISIONS, DOMAIN.value(), two);
        awaitReport(two.id(), Outcome.REJECTED);
        Decision later = decide(2, 60, new Action.Serve(STUBBORN, gpus.subList(2, 3), false));
        awaitReport(later.id(), Outcome.BOUND);
        Decision old = decide(1, 60, new Action.Resize(JOB, gpus.subList(3, 4), allocation(gpus)));
        awaitReport(old.id(), Outcome.REJECTED);
        Decision stop = decide(2, 3, new Action.Idle(STUBBORN, gpus.subList(2, 3), now().plusSeconds(3)));
        awaitReport(stop.id(), Outcome.FORCED);
        assertThat(ours("trap '' TERM")).isEmpty();

        second.process().destroyForcibly().waitFor();
        startActuator();
        Decision none = decide(2, 60, new Action.Resize(JOB, gpus.subList(0, 1), Allocation.suspended(Mechanism.AFE)));
        awaitReport(none.id(), Outcome.RELEASED);
        await().atMost(Deployment.PATIENCE)
                .until(() -> ours("train.py").findAny().isEmpty());
        assertThat(deployment.read(TopicCatalogue.ACTUATION_REPORTS))
                .filteredOn(report -> report.outcome() != Outcome.HOLDS)
                .extracting(report -> report.decision() + " " + report.outcome() + " " + report.gpus())
                .doesNotHaveDuplicates();
    }

    private Deployment.Running startActuator() {
        actuators++;
        return start(
                ServiceKind.ACTUATOR,
                "--driver",
                "process",
                "--state-dir",
                directory.resolve("state").toString(),
                "--set",
                "actuator.nodes=all",
                "--set",
                "actuator.process.programs=" + directory.resolve("programs"));
    }

    private Deployment.Running start(ServiceKind kind, String... more) {
        List<String> arguments = deployment.with(more);
        boolean once = List.of(more).contains("--once");
        if (!once) {
            arguments.addAll(List.of("--set", "health.port=0"));
        }
        Path log = directory.resolve("%s-%d.log".formatted(kind.command(), actuators));
        Deployment.Running running = deployment.start(kind, log, arguments);
        return once ? running : running.ready();
    }

    private Decision decide(long epoch, int seconds, Action action) {
        Decision decision = new Decision(
                new DecisionId(DOMAIN, epoch, ++sequence),
                now(),
                now().plusSeconds(seconds),
                false,
                new Reason("test", "", Map.of(), List.of()),
                action);
        writer.write(TopicCatalogue.DECISIONS, DOMAIN.value(), decision);
        writer.flush();
        return decision;
    }

    private static Allocation allocation(List<GpuId> gpus) {
        return new Allocation(gpus, 8, 0, 1, Mechanism.AFE);
    }

    private void awaitReport(DecisionId decision, Outcome outcome) {
        await().atMost(Deployment.PATIENCE)
                .untilAsserted(() -> assertThat(deployment.read(TopicCatalogue.ACTUATION_REPORTS))
                        .as("%s %s", decision, outcome)
                        .anyMatch(report -> report.decision().equals(decision) && report.outcome() == outcome));
    }

    private Decision decision(Predicate<Action> which, Instant after) {
        return deployment.read(TopicCatalogue.DECISIONS).stream()
                .filter(decision ->
                        which.test(decision.action()) && !decision.at().isBefore(after))
                .findFirst()
                .orElseThrow();
    }

    private ActuationReport report(Outcome outcome, Predicate<ActuationReport> which) {
        return deployment.read(TopicCatalogue.ACTUATION_REPORTS).stream()
                .filter(report -> report.outcome() == outcome && which.test(report))
                .findFirst()
                .orElseThrow();
    }

    /**
     * Waits as long as what is waited for may rightly take: a job grows at ticks of the policy, a minute apart, by twice as
     * much each time, and a bind that is not done by its deadline of a minute is tried again.
     */
    private void awaitLeases(double perSecond, String what, Predicate<Map<GpuId, Lease>> which) {
        AtomicReference<Map<GpuId, Lease>> last = new AtomicReference<>(Map.of());
        try {
            await().atMost(Duration.ofMinutes(4))
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(500))
                    .until(() -> {
                        tellRate(perSecond);
                        Map<GpuId, Lease> leases = new HashMap<>();
                        deployment.read(TopicCatalogue.LEASES).forEach(lease -> leases.put(lease.gpuId(), lease));
                        last.set(leases);
                        return which.test(leases);
                    });
        } catch (ConditionTimeoutException e) {
            throw new AssertionError(
                    "not within %s: %s%nleases %s%nreports %s"
                            .formatted(
                                    Duration.ofMinutes(4),
                                    what,
                                    last.get().values(),
                                    deployment.read(TopicCatalogue.ACTUATION_REPORTS)),
                    e);
        }
    }

    private static long held(Map<GpuId, Lease> leases, Class<? extends Owner> kind) {
        return leases.values().stream()
                .filter(lease -> kind.isInstance(lease.owner()))
                .count();
    }

    private void awaitWorkers(int count) {
        await().atMost(Deployment.PATIENCE)
                .untilAsserted(() -> assertThat(workers()).hasSize(count));
    }

    /** Processes that train. */
    private List<Long> workers() {
        List<Long> pids = new ArrayList<>();
        ours("train.py").forEach(process -> {
            if (!process.info().arguments().map(List::of).orElse(List.of()).contains("lendstream-worker")) {
                pids.add(process.pid());
            }
        });
        return pids;
    }

    private Stream<ProcessHandle> ours(String argument) {
        return ProcessHandle.allProcesses()
                .filter(process -> process.info()
                        .arguments()
                        .map(arguments -> String.join(" ", arguments))
                        .filter(line -> line.contains(argument) && line.contains(directory.toString()))
                        .isPresent());
    }

    /** Tells of the window since the last one; returns its end. */
    private Instant tellRate(double perSecond) {
        Instant start = told;
        await().atMost(Deployment.PATIENCE).until(() -> !now().isBefore(start.plus(WINDOW)));
        told = now();
        long arrivals = Math.round(perSecond * Duration.between(start, told).toMillis() / 1000.0);
        writer.write(
                TopicCatalogue.REQUEST_RATES,
                CHAT.value(),
                new RequestRate(
                        CHAT,
                        DOMAIN,
                        "gateway",
                        "boot-1",
                        ++windows,
                        start,
                        told,
                        RequestRate.Requests.answered(arrivals),
                        RequestRate.Latency.NOT_MEASURED,
                        List.of(),
                        List.of()));
        writer.write(TopicCatalogue.DEMAND_FORECASTS, CHAT.value(), asNow(perSecond));
        writer.flush();
        return told;
    }

    /** Demand stays as it is; without a forecast the greatest of ten minutes would be expected. */
    private DemandForecast asNow(double perSecond) {
        return new DemandForecast(
                CHAT,
                DOMAIN,
                told,
                Duration.ofMinutes(1),
                "persistence",
                List.of(new HorizonQuantiles(Duration.ofMinutes(5), perSecond, perSecond, perSecond, perSecond)),
                Optional.empty(),
                Optional.empty());
    }

    private static InferenceService chat() {
        return new InferenceService(
                CHAT, DOMAIN, now(), List.of(), Duration.ofMillis(400), 10, Optional.empty(), 0, Duration.ofSeconds(2));
    }

    private static TrainingJob job() {
        return new TrainingJob(
                JOB,
                DOMAIN,
                now(),
                "example",
                new TrainingJob.Scaling(4, 1, 4, true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(32, 256, 8, 64, Optional.empty()),
                        new GoodputProfile(new ThroughputParameters(0.1, 0.04, 0, 0, 0, 0, 1), new GradientNoise(1, 1)),
                        new RescaleCosts(Duration.ofSeconds(5), Duration.ofSeconds(1))),
                "process",
                Optional.empty());
    }

    private static Instant now() {
        return Instant.now().truncatedTo(ChronoUnit.MILLIS);
    }

    private static long millis(Instant from, Instant to) {
        return Duration.between(from, to).toMillis();
    }
}

package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
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
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real PyTorch job over two machines, each with an actuator and one GPU. Both are this machine, under two loopback
 * addresses that are the names of their nodes.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class SpreadJobIT {
    private static final DomainId DOMAIN = new DomainId("default");
    private static final JobId JOB = new JobId("example");
    private static final List<String> MACHINES = List.of("127.0.0.1", "127.0.0.2");
    private static final Path PACKAGE =
            Path.of("../actuator/python").toAbsolutePath().normalize();

    @TempDir
    private Path directory;

    private Deployment deployment;
    private RecordWriter writer;

    @BeforeEach
    void deploy() throws IOException {
        String python = TorchPython.find();
        Path jobs = Files.createDirectories(directory.resolve("programs/jobs"));
        Files.createDirectories(directory.resolve("log"));
        Files.writeString(jobs.resolve("example.json"), """
                {"mode": "restart", "environment": {"PYTHONPATH": "%s"},
                 "command": ["%s", "%s/examples/train.py", "--device", "cpu", "--samples", "1600", "--epochs", "2",
                             "--step-seconds", "0.05", "--log", "%s/log", "--checkpoint", "%s/checkpoint",
                             "--checkpoint-seconds", "0.5"]}
                """.formatted(PACKAGE, python, PACKAGE, directory, directory));
        deployment = new Deployment(1);
        writer = RecordWriter.open(deployment.kafka(), Deployment.TOPICS, "/test");
    }

    @AfterEach
    void endAll() {
        if (deployment != null) {
            writer.close();
            deployment.close();
            ours().forEach(ProcessHandle::destroyForcibly);
        }
    }

    @Test
    void aJobStartsOnBothMachinesSurvivesAWorkerOfOneAndFinishesOnce() throws Exception {
        start(
                ServiceKind.SCHEDULER,
                "scheduler",
                "kafka.processing.guarantee=at_least_once",
                "scheduler.policy=lendstream:plan-every=5s",
                "scheduler.node-stale-after=1h",
                "kafka.state.dir=" + directory.resolve("scheduler"));
        for (String machine : MACHINES) {
            writer.write(TopicCatalogue.NODES, machine, node(machine));
            start(
                    ServiceKind.ACTUATOR,
                    machine,
                    "actuator.driver=process",
                    "actuator.name=on-" + machine,
                    "actuator.nodes=" + machine,
                    "actuator.state-dir=" + directory.resolve(machine),
                    "actuator.spans-nodes=true",
                    "actuator.process.programs=" + directory.resolve("programs"));
        }
        writer.flush();
        await().atMost(Deployment.PATIENCE)
                .untilAsserted(() -> assertThat(deployment.read(TopicCatalogue.ACTUATORS))
                        .extracting(ActuatorDescription::abilities)
                        .hasSize(2)
                        .allMatch(abilities -> abilities.spansNodes()));
        Instant submitted = now();
        writer.write(TopicCatalogue.TRAINING_JOBS, JOB.value(), job());
        writer.flush();

        await().atMost(Deployment.PATIENCE).until(() -> steps() >= 10);
        System.out.printf("steps over two machines %d ms after the submission%n", millis(submitted, now()));
        assertThat(owners()).hasSize(2).allMatch(Owner.Training.class::isInstance);

        Instant killed = now();
        ours().filter(process -> Files.exists(directory.resolve("127.0.0.2")) && isOn(process, "127.0.0.2"))
                .forEach(ProcessHandle::destroyForcibly);
        long before = steps();
        await().atMost(Deployment.PATIENCE).until(() -> steps() >= before + 10);
        System.out.printf("steps again %d ms after a worker was killed%n", millis(killed, now()));

        await().atMost(Deployment.PATIENCE)
                .until(() -> deployment.read(TopicCatalogue.TRAINING_PROGRESS).stream()
                        .anyMatch(progress -> progress.phase() == JobPhase.FINISHED));
        await().atMost(Deployment.PATIENCE)
                .untilAsserted(() -> assertThat(owners()).hasSize(2).allMatch(Owner.Free.class::isInstance));
        assertThat(deployment.read(TopicCatalogue.TRAINING_PROGRESS))
                .filteredOn(progress -> progress.phase() == JobPhase.RUNNING)
                .isNotEmpty()
                .allMatch(progress -> progress.parallelism().nodes() == 2)
                .allMatch(progress -> progress.parallelism().replicas() == 2);
        assertThat(deployment.read(TopicCatalogue.TRAINING_PROGRESS))
                .filteredOn(progress -> progress.phase().isOver())
                .hasSize(1);
        assertThat(deployment.read(TopicCatalogue.ACTUATION_REPORTS))
                .extracting(report -> report.outcome())
                .doesNotContain(Outcome.FAILED, Outcome.FORCED, Outcome.REJECTED, Outcome.TIMED_OUT);
        assertThat(ours()).isEmpty();
        deployment.awaitCleanHistory(DOMAIN);
    }

    private void start(ServiceKind kind, String name, String... settings) {
        List<String> arguments = deployment.with("--set", "health.port=0");
        for (String setting : settings) {
            arguments.addAll(List.of("--set", setting));
        }
        deployment.start(kind, directory.resolve(name + ".log"), arguments).ready();
    }

    private List<Owner> owners() {
        Map<GpuId, Lease> leases = new HashMap<>();
        deployment.read(TopicCatalogue.LEASES).forEach(lease -> leases.put(lease.gpuId(), lease));
        return leases.values().stream().map(Lease::owner).toList();
    }

    /** Steps of two workers, by those that noted them. */
    private long steps() throws IOException {
        List<String> lines = new ArrayList<>();
        try (Stream<Path> files = Files.list(directory.resolve("log"))) {
            for (Path file : files.toList()) {
                lines.addAll(Files.readAllLines(file));
            }
        }
        return lines.stream().filter(line -> line.contains("\"world\": 2")).count() / 2;
    }

    private Stream<ProcessHandle> ours() {
        return ProcessHandle.allProcesses()
                .filter(process -> process.info()
                        .arguments()
                        .map(arguments -> String.join(" ", arguments))
                        .filter(line -> line.contains("train.py") && line.contains(directory.toString()))
                        .isPresent());
    }

    /** Whether a process, or the shell that waits for it, is one of a machine. */
    private boolean isOn(ProcessHandle process, String machine) {
        return Stream.concat(Stream.of(process), process.parent().stream())
                .flatMap(each -> each.info().arguments().stream())
                .anyMatch(arguments -> String.join(" ", arguments)
                        .contains(directory.resolve(machine).toString()));
    }

    private static Node node(String machine) {
        Gpu gpu = new Gpu(
                new GpuId("GPU-" + machine),
                0,
                "NVIDIA A100-SXM4-80GB",
                80L << 30,
                Optional.empty(),
                false,
                List.of(),
                false,
                List.of());
        return new Node(new NodeId(machine), DOMAIN, Pool.TRAINING, "boot-1", now(), NodeStatus.READY, List.of(gpu));
    }

    private static TrainingJob job() {
        return new TrainingJob(
                JOB,
                DOMAIN,
                now(),
                "example",
                new TrainingJob.Scaling(2, 2, 2, true),
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

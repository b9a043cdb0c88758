package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.services.Deployment.Printed;
import io.lendstream.launcher.services.Deployment.Running;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.stack.ServiceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Replicas, a job and a process that nobody knows run before Lendstream comes: the way of docs/adoption.md. Three GPUs of
 * training and three of inference.
 */
@Timeout(value = 8, unit = TimeUnit.MINUTES)
final class AdoptionIT {
    /** Found at a look every 10 s, watched for half a minute, reported again. */
    private static final Duration FOUND = Duration.ofMinutes(2);

    private static final String DECLARED = """
            apiVersion: lendstream.io/v1
            kind: Service
            metadata:
              name: chat
              domain: lab
            spec:
              slo: 4s
              replicaCapacityPerSecond: 1.25
              warmUp: 5s
              floor: 2
              adopt:
                environment.ROLE: it-replica
            ---
            apiVersion: lendstream.io/v1
            kind: TrainingJob
            metadata:
              name: bert
              domain: lab
            spec:
              application: bert
              gpus: 2
              adopt:
                environment.ROLE: it-*-job
            """;

    @TempDir
    private Path directory;

    private final List<Process> strangers = new ArrayList<>();

    @Test
    void whatRanBeforeIsTakenOverWithoutARestart() throws Exception {
        assumeTrue(Files.isDirectory(Path.of("/proc/self")), "processes are read from /proc, which is not there");
        try (Deployment deployment = new Deployment(1)) {
            prepare();
            Running scheduler = scheduler(deployment);
            Running actuator = actuator(deployment);
            agent(deployment);
            awaitLabels(deployment, Pool.TRAINING, "free", "free", "free");
            awaitLabels(deployment, Pool.INFERENCE, "free", "free", "free");
            List<GpuId> training = gpus(deployment, Pool.TRAINING);
            List<GpuId> inference = gpus(deployment, Pool.INFERENCE);
            Process job = started("it-old-job", training.subList(0, 2));
            Process unknown = started("it-unknown", training.subList(2, 3));
            started("it-replica", inference.subList(0, 1));
            started("it-replica", inference.subList(1, 2));
            awaitLabels(deployment, Pool.TRAINING, "foreign", "foreign", "foreign");

            isTakenOver(deployment);
            actuator.process().destroyForcibly().waitFor();
            actuator(deployment);
            scheduler.process().destroyForcibly().waitFor();
            scheduler(deployment);
            isInForce(deployment);
            areAllAlive();
            goesWhenItIsDeleted(deployment, job, unknown);
        } finally {
            strangers.forEach(Process::destroyForcibly);
        }
    }

    /** In the advisory mode of a first start, so that nothing else can have moved. */
    private void isTakenOver(Deployment deployment) throws Exception {
        Path file = Files.writeString(directory.resolve("lab.yaml"), DECLARED);
        succeeded(deployment.command(directory, "apply", "-f", file.toString()));
        awaitLabels(deployment, Pool.TRAINING, "foreign", "training", "training");
        awaitLabels(deployment, Pool.INFERENCE, "free", "serving", "serving");

        Printed shown = succeeded(deployment.command(directory, "adopt", "--dry-run", "--domain", "lab"));
        assertThat(shown.out()).contains("stays foreign:", "no selector matches it");
        Printed trust = succeeded(deployment.command(directory, "trust", "--domain", "lab"));
        assertThat(trust.out()).contains("advise");
        assertThat(deployment.read(TopicCatalogue.DECISIONS))
                .filteredOn(decision -> !decision.advisory())
                .map(Decision::countedAs)
                .containsOnly("adopt");
        areAllAlive();
    }

    /** Switching advice off moves nothing that runs. */
    private void isInForce(Deployment deployment) throws Exception {
        succeeded(deployment.command(
                directory, "trust", "all", "--anyway", "--reason", "it is a test", "--domain", "lab"));
        await().during(Duration.ofSeconds(12))
                .atMost(Deployment.PATIENCE)
                .untilAsserted(() -> assertThat(labels(deployment, Pool.TRAINING))
                        .containsExactlyInAnyOrder("foreign", "training", "training"));
        awaitLabels(deployment, Pool.INFERENCE, "free", "serving", "serving");
    }

    /** From now on the job is one like any other. */
    private void goesWhenItIsDeleted(Deployment deployment, Process job, Process unknown) throws Exception {
        succeeded(deployment.command(directory, "delete", "job", "bert"));
        assertThat(job.waitFor(60, TimeUnit.SECONDS))
                .as("the job's process has ended")
                .isTrue();
        awaitLabels(deployment, Pool.TRAINING, "foreign", "free", "free");
        assertThat(unknown.isAlive()).isTrue();
    }

    private void areAllAlive() {
        assertThat(strangers).hasSize(4).allMatch(Process::isAlive);
    }

    private static Printed succeeded(Printed printed) {
        assertThat(printed.exit()).as(printed.out() + printed.err()).isZero();
        return printed;
    }

    private void prepare() throws IOException {
        Files.createDirectories(directory.resolve("programs/jobs"));
        Files.createDirectories(directory.resolve("programs/services"));
        Files.writeString(directory.resolve("programs/jobs/bert.json"), """
                {"mode": "restart", "command": ["sleep", "600"], "directory": "/", "maxRestarts": 0, "graceSeconds": 5}
                """);
        Files.writeString(directory.resolve("programs/services/chat.json"), """
                {"command": ["sleep", "600"]}
                """);
    }

    private Running scheduler(Deployment deployment) {
        return start(
                deployment,
                ServiceKind.SCHEDULER,
                "--set",
                "scheduler.policy=lendstream:plan-every=5s",
                "--set",
                "scheduler.heed-users=true",
                "--set",
                "scheduler.first-trust=advise",
                "--set",
                "kafka.state.dir=" + directory.resolve("scheduler-state"));
    }

    private Running actuator(Deployment deployment) {
        return start(
                deployment,
                ServiceKind.ACTUATOR,
                "--state-dir",
                directory.resolve("actuator").toString(),
                "--set",
                "actuator.driver=process",
                "--set",
                "actuator.nodes=all",
                "--set",
                "actuator.domains=lab",
                "--set",
                "actuator.process.programs=" + directory.resolve("programs"));
    }

    private void agent(Deployment deployment) {
        start(
                deployment,
                ServiceKind.AGENT,
                "--backend",
                "simulated",
                "--nodes",
                "2",
                "--gpus-per-node",
                "3",
                "--training-nodes",
                "1",
                "--set",
                "agent.domain=lab",
                "--set",
                "agent.simulated.processes=true",
                "--set",
                "agent.period=1s");
    }

    /** A process that something else has started on GPUs. */
    private Process started(String role, List<GpuId> gpus) throws IOException {
        ProcessBuilder sleep = new ProcessBuilder("sleep", "600");
        sleep.environment()
                .put(
                        "CUDA_VISIBLE_DEVICES",
                        String.join(",", gpus.stream().map(GpuId::value).toList()));
        sleep.environment().put("ROLE", role);
        Process started = sleep.start();
        strangers.add(started);
        return started;
    }

    private static void awaitLabels(Deployment deployment, Pool pool, String... labels) {
        await().atMost(FOUND)
                .untilAsserted(() -> assertThat(labels(deployment, pool)).containsExactlyInAnyOrder(labels));
    }

    private static List<String> labels(Deployment deployment, Pool pool) {
        return leases(deployment, pool).values().stream()
                .map(Lease::owner)
                .map(Owner::label)
                .toList();
    }

    private static List<GpuId> gpus(Deployment deployment, Pool pool) {
        return List.copyOf(leases(deployment, pool).keySet());
    }

    private static SortedMap<GpuId, Lease> leases(Deployment deployment, Pool pool) {
        SortedMap<GpuId, Lease> latest = new TreeMap<>();
        for (Lease lease : deployment.read(TopicCatalogue.LEASES)) {
            if (lease.pool() == pool) {
                latest.put(lease.gpuId(), lease);
            }
        }
        return latest;
    }

    private Running start(Deployment deployment, ServiceKind kind, String... more) {
        List<String> arguments = deployment.with(more);
        arguments.addAll(List.of("--set", "health.port=0"));
        String log = "%s-%d.log".formatted(kind.command(), System.nanoTime());
        return deployment.start(kind, directory.resolve(log), arguments).ready();
    }
}

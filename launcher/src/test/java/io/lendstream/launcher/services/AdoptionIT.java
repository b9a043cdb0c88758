package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
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
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The steps of docs/adoption.md. Two replicas, a job, and a process that is not declared run before Lendstream is
 * installed, on three GPUs of training and three of inference.
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
            SharedMachine machine = new SharedMachine(deployment, directory, "lab");
            Running scheduler = scheduler(machine);
            Running actuator = actuator(machine);
            machine.startAgent(3);
            machine.awaitOwners(Pool.TRAINING, FOUND, "free", "free", "free");
            machine.awaitOwners(Pool.INFERENCE, FOUND, "free", "free", "free");
            List<GpuId> training = List.copyOf(machine.leases(Pool.TRAINING).keySet());
            List<GpuId> inference = List.copyOf(machine.leases(Pool.INFERENCE).keySet());
            Process job = started("it-old-job", training.subList(0, 2));
            Process unknown = started("it-unknown", training.subList(2, 3));
            started("it-replica", inference.subList(0, 1));
            started("it-replica", inference.subList(1, 2));
            machine.awaitOwners(Pool.TRAINING, FOUND, "foreign", "foreign", "foreign");

            isTakenOver(machine);
            actuator.process().destroyForcibly().waitFor();
            actuator(machine);
            scheduler.process().destroyForcibly().waitFor();
            scheduler(machine);
            isInForce(machine);
            areAllAlive();
            goesWhenItIsDeleted(machine, job, unknown);
        } finally {
            strangers.forEach(Process::destroyForcibly);
        }
    }

    /** In the advisory mode of a first start, so that nothing else can have moved. */
    private void isTakenOver(SharedMachine machine) throws Exception {
        Deployment deployment = machine.deployment();
        Path file = Files.writeString(directory.resolve("lab.yaml"), DECLARED);
        succeeded(deployment.command(directory, "apply", "-f", file.toString()));
        machine.awaitOwners(Pool.TRAINING, FOUND, "foreign", "training", "training");
        machine.awaitOwners(Pool.INFERENCE, FOUND, "free", "serving", "serving");

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
    private void isInForce(SharedMachine machine) throws Exception {
        succeeded(machine.deployment()
                .command(directory, "trust", "all", "--anyway", "--reason", "it is a test", "--domain", "lab"));
        await().during(Duration.ofSeconds(12))
                .atMost(Deployment.PATIENCE)
                .untilAsserted(() -> assertThat(machine.owners(Pool.TRAINING))
                        .containsExactlyInAnyOrder("foreign", "training", "training"));
        machine.awaitOwners(Pool.INFERENCE, FOUND, "free", "serving", "serving");
    }

    /** From now on the job is one like any other. */
    private void goesWhenItIsDeleted(SharedMachine machine, Process job, Process unknown) throws Exception {
        succeeded(machine.deployment().command(directory, "delete", "job", "bert"));
        assertThat(job.waitFor(60, TimeUnit.SECONDS))
                .as("the job's process has ended")
                .isTrue();
        machine.awaitOwners(Pool.TRAINING, FOUND, "foreign", "free", "free");
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

    private Running scheduler(SharedMachine machine) {
        return machine.start(
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

    private Running actuator(SharedMachine machine) {
        return machine.start(
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

    private Process started(String role, List<GpuId> gpus) throws IOException {
        Process started = SharedMachine.started(role, gpus);
        strangers.add(started);
        return started;
    }
}

package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.services.Deployment.Printed;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.stack.ServiceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Three training GPUs. A process that a user started past Lendstream uses one of them; a job wants two. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class ForeignUseIT {
    private static final String JOB = """
            apiVersion: lendstream.io/v1
            kind: TrainingJob
            metadata:
              name: bert
              domain: beside
            spec:
              application: cifar10
              gpus: 2
            """;

    @TempDir
    private Path directory;

    @Test
    void aGpuThatAnotherProcessUsesIsGivenToNobodyUntilThatHasGone() throws Exception {
        assumeTrue(Files.isDirectory(Path.of("/proc/self")), "processes are read from /proc, which is not there");
        try (Deployment deployment = new Deployment(1)) {
            startAll(deployment);
            awaitOwners(deployment, "free", "free", "free");
            Process other = started(training(deployment).get(1).gpuId());
            try {
                isGivenToNobodyBeside(other, deployment);
            } finally {
                other.destroyForcibly();
            }
        }
    }

    private void isGivenToNobodyBeside(Process other, Deployment deployment) throws Exception {
        awaitOwners(deployment, "foreign", "free", "free");
        Path file = Files.writeString(directory.resolve("job.yaml"), JOB);
        Printed applied = deployment.command(directory, "apply", "-f", file.toString());
        assertThat(applied.exit()).as(applied.out() + applied.err()).isZero();
        awaitOwners(deployment, "foreign", "training", "training");

        ForeignUse use = training(deployment).stream()
                .flatMap(lease -> lease.owner().asForeign().stream())
                .findFirst()
                .orElseThrow();
        assertThat(use.users()).singleElement().asString().startsWith("process/" + other.pid() + "-");
        Printed top = deployment.command(directory, "top", "--once");
        assertThat(top.out()).contains("1 foreign", "foreign: used by process/" + other.pid());
        assertThat(other.isAlive()).isTrue();

        other.destroy();
        awaitOwners(deployment, "free", "training", "training");
    }

    private void startAll(Deployment deployment) {
        start(
                deployment,
                ServiceKind.SCHEDULER,
                "--set",
                "scheduler.policy=lendstream:plan-every=5s",
                "--set",
                "scheduler.heed-users=true",
                "--set",
                "scheduler.foreign-gone-after=4s",
                "--set",
                "kafka.state.dir=" + directory.resolve("scheduler-state"));
        start(
                deployment,
                ServiceKind.ACTUATOR,
                "--state-dir",
                directory.resolve("done").toString());
        // In a domain of their own, GPUs have names that no process of another test has. With two nodes, names of
        // devices by index count for none.
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
                "agent.domain=beside",
                "--set",
                "agent.simulated.processes=true",
                "--set",
                "agent.period=1s");
    }

    /** A process that a user starts on a GPU past Lendstream. */
    private static Process started(GpuId gpu) throws IOException {
        ProcessBuilder sleep = new ProcessBuilder("sleep", "600");
        sleep.environment().put("CUDA_VISIBLE_DEVICES", gpu.value());
        return sleep.start();
    }

    private static void awaitOwners(Deployment deployment, String... labels) {
        await().atMost(Deployment.PATIENCE)
                .untilAsserted(() -> assertThat(training(deployment))
                        .map(Lease::owner)
                        .map(Owner::label)
                        .containsExactlyInAnyOrder(labels));
    }

    /** The leases of the GPUs of the training pool. */
    private static List<Lease> training(Deployment deployment) {
        SortedMap<String, Lease> latest = new TreeMap<>();
        for (Lease lease : deployment.read(TopicCatalogue.LEASES)) {
            if (lease.pool() == Pool.TRAINING) {
                latest.put(lease.gpuId().value(), lease);
            }
        }
        return new ArrayList<>(latest.values());
    }

    private void start(Deployment deployment, ServiceKind kind, String... more) {
        List<String> arguments = deployment.with(more);
        arguments.addAll(List.of("--set", "health.port=0"));
        deployment
                .start(kind, directory.resolve(kind.command() + ".log"), arguments)
                .ready();
    }
}

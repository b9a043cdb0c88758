package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.services.Deployment.Printed;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.stack.ServiceKind;
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

/** Three training GPUs. A process that somebody else has started uses one of them; a job wants two. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class ForeignUseIT {
    private static final String JOBS = """
            apiVersion: lendstream.io/v1
            kind: TrainingJob
            metadata:
              name: bert
            spec:
              application: cifar10
              gpus: %d
            """;

    @TempDir
    private Path directory;

    @Test
    void aGpuThatAnotherProcessUsesIsGivenToNobodyUntilThatHasGone() throws Exception {
        assumeTrue(Files.isDirectory(Path.of("/proc/self")), "processes are read from /proc, which is not there");
        ProcessBuilder sleep = new ProcessBuilder("sleep", "600");
        sleep.environment().put("CUDA_VISIBLE_DEVICES", "1");
        Process other = sleep.start();
        try (Deployment deployment = new Deployment(1)) {
            startAll(deployment);
            await().atMost(Deployment.PATIENCE)
                    .untilAsserted(() -> assertThat(labels(deployment)).containsExactly("foreign", "free", "free"));

            declare(deployment, 2);
            await().atMost(Deployment.PATIENCE)
                    .untilAsserted(
                            () -> assertThat(labels(deployment)).containsExactly("foreign", "training", "training"));
            ForeignUse use = leases(deployment).stream()
                    .flatMap(lease -> lease.owner().asForeign().stream())
                    .findFirst()
                    .orElseThrow();
            assertThat(use.users()).singleElement().asString().startsWith("process/" + other.pid() + "-");
            Printed top = deployment.command(directory, "top", "--once");
            assertThat(top.out()).contains("1 foreign", "foreign: used by process/" + other.pid());
            assertThat(other.isAlive()).isTrue();

            other.destroy();
            await().atMost(Deployment.PATIENCE)
                    .untilAsserted(
                            () -> assertThat(labels(deployment)).containsExactly("free", "training", "training"));
        } finally {
            other.destroyForcibly();
        }
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
        start(
                deployment,
                ServiceKind.AGENT,
                "--backend",
                "simulated",
                "--nodes",
                "1",
                "--gpus-per-node",
                "3",
                "--training-nodes",
                "1",
                "--set",
                "agent.simulated.processes=true",
                "--set",
                "agent.period=1s");
    }

    private void declare(Deployment deployment, int gpus) throws Exception {
        Path file = Files.writeString(directory.resolve("job.yaml"), JOBS.formatted(gpus));
        Printed applied = deployment.command(directory, "apply", "-f", file.toString());
        assertThat(applied.exit()).as(applied.out() + applied.err()).isZero();
    }

    private static List<Lease> leases(Deployment deployment) {
        SortedMap<String, Lease> latest = new TreeMap<>();
        deployment
                .read(TopicCatalogue.LEASES)
                .forEach(lease -> latest.put(lease.gpuId().value(), lease));
        return new ArrayList<>(latest.values());
    }

    private static List<String> labels(Deployment deployment) {
        return leases(deployment).stream()
                .map(Lease::owner)
                .map(Owner::label)
                .sorted()
                .toList();
    }

    private void start(Deployment deployment, ServiceKind kind, String... more) {
        List<String> arguments = deployment.with(more);
        arguments.addAll(List.of("--set", "health.port=0"));
        deployment
                .start(kind, directory.resolve(kind.command() + ".log"), arguments)
                .ready();
    }
}

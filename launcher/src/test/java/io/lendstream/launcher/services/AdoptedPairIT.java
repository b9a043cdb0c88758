package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.id.Pool;
import io.lendstream.launcher.services.Deployment.Printed;
import io.lendstream.launcher.services.HostedCluster.Machine;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.stack.ServiceKind;
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
 * A job over two hosts runs before Lendstream is installed, and each half of it is found by the actuator of its host. One
 * half alone stays foreign; both are taken over together, outlive the kill of an actuator, and are stopped together.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
final class AdoptedPairIT {
    private static final String DECLARED = """
            apiVersion: lendstream.io/v1
            kind: TrainingJob
            metadata:
              name: pair
              domain: lab
            spec:
              application: pair
              gpus: 2
              adopt:
                command: "*/torchrun */it-pair/train.py --nnodes 2 *"
            """;

    @TempDir
    private Path directory;

    private final List<Stranger> halves = new ArrayList<>();

    @Test
    void aJobOverTwoHostsIsTakenOverAsOneAndStoppedAsOne() throws Exception {
        assumeTrue(Files.isDirectory(Path.of("/proc/self")), "processes are read from /proc, which is not there");
        Path program = Stranger.launcher(Files.createDirectory(directory.resolve("it-pair")));
        try (Deployment deployment = new Deployment(1);
                HostedCluster cluster = new HostedCluster(
                        deployment,
                        directory,
                        List.of(new Machine("host-a", Pool.TRAINING, 1), new Machine("host-b", Pool.TRAINING, 1)),
                        List.of("actuator.spans-nodes=true"))) {
            awaitOwners(cluster, "free", "free");
            startHalf(cluster, program, 0);
            oneHalfStaysForeign(cluster);
            startHalf(cluster, program, 1);
            bothAreTakenOver(cluster);
            outlivesAnActuator(cluster);
            endsWhenItIsDeleted(cluster);
        } finally {
            halves.forEach(half -> half.starter().destroyForcibly());
        }
    }

    private void startHalf(HostedCluster cluster, Path program, int host) throws Exception {
        halves.add(Stranger.launched(
                cluster.hosts().get(host), program, 2, host, cluster.gpus(host).get(0), "training job pair"));
    }

    private void oneHalfStaysForeign(HostedCluster cluster) throws Exception {
        awaitOwners(cluster, "foreign", "free");
        cluster.apply("pair.yaml", DECLARED);
        await().atMost(AdoptionSteps.FOUND)
                .pollInterval(Duration.ofSeconds(1))
                .untilAsserted(
                        () -> assertThat(cluster.succeeds("adopt", "--dry-run").out())
                                .contains(
                                        "stays foreign:",
                                        " on host-a/0: job pair: it has 2 workers, and agents report it on 1 GPU"));
        cluster.checkTop(halves, false);
        assertThat(binding(cluster)).isEmpty();
    }

    private void bothAreTakenOver(HostedCluster cluster) throws Exception {
        awaitOwners(cluster, "foreign", "foreign");
        List<ProcessHandle> processes = processes();
        awaitOwners(cluster, "training", "training");
        areUntouched(cluster, processes);
        Decision adoption = binding(cluster).get(0);
        assertThat(adoption.countedAs()).isEqualTo("adopt");
        assertThat(adoption.action().gpus())
                .containsExactlyInAnyOrderElementsOf(
                        halves.stream().flatMap(half -> half.gpus().stream()).toList());
        Printed explained = cluster.succeeds("explain", adoption.id().toString());
        assertThat(explained.out())
                .contains("job pair takes over what runs already on 2 GPUs", " on host-a (", " on host-b (");
    }

    private void outlivesAnActuator(HostedCluster cluster) throws Exception {
        List<ProcessHandle> processes = processes();
        cluster.restart(ServiceKind.ACTUATOR, 1);
        areUntouched(cluster, processes);
    }

    /** Both halves run on as they were, they own both GPUs, and nothing was decided but their adoption. */
    private void areUntouched(HostedCluster cluster, List<ProcessHandle> processes) throws Exception {
        assertThat(processes()).hasSize(4).isEqualTo(processes).allMatch(ProcessHandle::isAlive);
        assertThat(cluster.lab().owners(Pool.TRAINING)).containsExactly("training", "training");
        assertThat(binding(cluster)).hasSize(1);
        cluster.checkTop(halves, true);
    }

    private void endsWhenItIsDeleted(HostedCluster cluster) {
        List<ProcessHandle> processes = processes();
        cluster.succeeds("trust", "all", "--anyway", "--reason", "it is a test");
        assertThat(binding(cluster)).hasSize(1);
        cluster.succeeds("delete", "job", "pair");
        await().atMost(Deployment.PATIENCE).until(() -> processes.stream().noneMatch(ProcessHandle::isAlive));
        awaitOwners(cluster, "free", "free");
        cluster.deployment().awaitCleanHistory(HostedCluster.DOMAIN);
    }

    private List<ProcessHandle> processes() {
        List<ProcessHandle> processes = new ArrayList<>();
        halves.forEach(half -> {
            processes.add(half.handle());
            processes.addAll(half.workers());
        });
        return processes;
    }

    private static List<Decision> binding(HostedCluster cluster) {
        return cluster.deployment().read(TopicCatalogue.DECISIONS).stream()
                .filter(decision ->
                        !decision.advisory() && !decision.action().gpus().isEmpty())
                .toList();
    }

    private static void awaitOwners(HostedCluster cluster, String... labels) {
        cluster.lab().awaitOwners(Pool.TRAINING, AdoptionSteps.FOUND, labels);
    }
}

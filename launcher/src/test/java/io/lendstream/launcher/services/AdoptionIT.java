package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.core.id.Pool;
import io.lendstream.launcher.services.Deployment.Printed;
import io.lendstream.stack.ServiceKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The steps of docs/adoption.md, on three hosts. A job, two replicas, and two processes that are not declared run before
 * Lendstream is installed. An actuator is killed right after the claim of the job, all services when all owners are known,
 * and the scheduler while a GPU is taken back. {@link AdoptionFaultsIT} kills each service at each step.
 */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
final class AdoptionIT {
    @TempDir
    private Path directory;

    @Test
    void whatRanBeforeOnThreeHostsIsTakenOverWithoutARestart() throws Exception {
        Optional<String> obstacle = Host.obstacle();
        assumeTrue(obstacle.isEmpty(), () -> "there can be no three hosts: " + obstacle.orElseThrow());
        takeOver();
    }

    /** The same with three agents and actuators on this machine. */
    @Test
    void whereThereCanBeNoHostsThisMachineIsThreeNodes() throws Exception {
        assumeTrue(Host.obstacle().isPresent(), "three hosts can be had");
        assumeTrue(Files.isDirectory(Path.of("/proc/self")), "processes are read from /proc, which is not there");
        takeOver();
    }

    private void takeOver() throws Exception {
        try (Deployment deployment = new Deployment(1);
                AdoptedCluster cluster = new AdoptedCluster(deployment, directory);
                AdoptionSteps steps = new AdoptionSteps(cluster, step -> kill(cluster, step))) {
            steps.takeAll();
            goesWhenItIsDeleted(cluster);
            cluster.judge();
        }
    }

    private static void kill(AdoptedCluster cluster, AdoptionStep step) throws InterruptedException {
        switch (step) {
            case DECIDED -> cluster.hosted().restart(ServiceKind.ACTUATOR, step.host());
            case ADOPTED -> cluster.hosted().restartAll();
            case RECLAIMING -> cluster.hosted().restart(ServiceKind.SCHEDULER, step.host());
            case OBSERVED, CLAIMED, ADVISED, TRUSTED, LENDING -> {
                // nothing is killed
            }
        }
    }

    /** From now on the job is one like any other; the new one gets a GPU that it leaves. */
    private static void goesWhenItIsDeleted(AdoptedCluster cluster) throws InterruptedException {
        Printed refused = cluster.hosted().command("delete", "service", "chat");
        assertThat(refused.exit()).isEqualTo(1);
        assertThat(refused.err()).contains("service/chat has replicas on ", "were taken over", "Add --stop");
        cluster.hosted().succeeds("delete", "job", "bert");
        assertThat(cluster.strangers().get(0).starter().waitFor(60, TimeUnit.SECONDS))
                .as("the job's process has ended")
                .isTrue();
        cluster.hosted().lab().awaitOwners(Pool.TRAINING, AdoptionSteps.FOUND, "foreign", "free", "training");
        assertThat(cluster.strangers().subList(1, 5)).allMatch(Stranger::isAlive);
    }
}

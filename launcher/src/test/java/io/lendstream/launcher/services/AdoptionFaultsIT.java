package io.lendstream.launcher.services;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.core.history.Verdict;
import io.lendstream.stack.ServiceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Kills of a service at each {@link AdoptionStep}, one after the other in one cluster: {@code ./dev faults --only adoption}. */
@Tag("alone")
@Timeout(value = 20, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledIfSystemProperty(
        named = "faults.all",
        matches = "true",
        disabledReason = "takes minutes: ./dev faults does it, and AdoptionIT two of the kills")
final class AdoptionFaultsIT {
    private static final Path RESULT = Path.of("target", "faults-adoption.json");

    private final List<Double> kills = new ArrayList<>();
    private final List<Verdict> verdicts = new ArrayList<>();
    private long restarts;

    @Test
    void adoptionSurvivesKillsOfTheScheduler(@TempDir Path directory) throws Exception {
        survivesKillsOf(ServiceKind.SCHEDULER, directory);
    }

    @Test
    void adoptionSurvivesKillsOfAnActuator(@TempDir Path directory) throws Exception {
        survivesKillsOf(ServiceKind.ACTUATOR, directory);
    }

    @Test
    void adoptionSurvivesKillsOfAnAgent(@TempDir Path directory) throws Exception {
        survivesKillsOf(ServiceKind.AGENT, directory);
    }

    private void survivesKillsOf(ServiceKind service, Path directory) throws Exception {
        assumeTrue(Files.isDirectory(Path.of("/proc/self")), "processes are read from /proc, which is not there");
        long since = System.nanoTime();
        try (Deployment deployment = new Deployment(1);
                AdoptedCluster cluster = new AdoptedCluster(deployment, directory);
                AdoptionSteps steps = new AdoptionSteps(cluster, step -> kill(cluster, service, step))) {
            steps.takeAll();
            Verdict verdict = cluster.judge();
            restarts += cluster.ended();
            verdicts.add(verdict);
            System.out.printf(
                    Locale.ROOT,
                    "adoption with %d kills of the %s: %.0f s; %d events, %d decisions, %d reports: every promise was kept%n",
                    AdoptionStep.values().length,
                    service.command(),
                    (System.nanoTime() - since) / 1e9,
                    verdict.events(),
                    verdict.decisions(),
                    verdict.reports());
        }
    }

    private void kill(AdoptedCluster cluster, ServiceKind service, AdoptionStep step) throws InterruptedException {
        double seconds = cluster.hosted().restart(service, step.host());
        kills.add(seconds);
        System.out.printf(
                Locale.ROOT, "killed the %s when %s: at work again after %.1f s%n", service.command(), step, seconds);
    }

    /** Leaves what was measured where {@code ./dev faults} finds it. */
    @AfterAll
    void publish() throws IOException {
        if (verdicts.isEmpty()) {
            return;
        }
        Files.writeString(
                RESULT,
                String.format(
                        Locale.ROOT,
                        "{\"adoptions\":%d,\"adoptionKills\":%d,\"adoptionRestarts\":%d,\"adoptionRecoveryMaxSeconds\":%.1f,"
                                + "\"adoptionEventsChecked\":%d,\"adoptionDecisionsChecked\":%d}",
                        verdicts.size(),
                        kills.size(),
                        restarts,
                        kills.stream().mapToDouble(Double::doubleValue).max().orElseThrow(),
                        verdicts.stream().mapToInt(Verdict::events).sum(),
                        verdicts.stream().mapToInt(Verdict::decisions).sum()));
    }
}

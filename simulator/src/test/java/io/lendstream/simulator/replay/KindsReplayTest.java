package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.simulated.SimulatedGpu;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.PlacedGpu;
import io.lendstream.simulator.results.Summary;
import io.lendstream.simulator.workload.Presets;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs run as fast as they really are on the kind of their GPUs. */
class KindsReplayTest {
    private static final DomainId DOMAIN = new DomainId("replay");

    @TempDir
    private Path folder;

    private Replayed jobs(String policy, Map<SimulatedGpu, Integer> kinds, String... lines) throws IOException {
        Path file = Files.writeString(
                folder.resolve("jobs.csv"),
                "job,submitSeconds,gpus,runSeconds,kinds,kindRatios\n" + String.join("\n", lines) + "\n");
        int nodes = kinds.values().stream().mapToInt(count -> count).sum();
        Workload workload = Workloads.load(file.toString(), Scene.of(DOMAIN, 1, 2 * nodes, 0));
        return replay(workload, policy, new SimulatedNodes.Layout(DOMAIN, nodes, 2, nodes, 1).withKinds(kinds));
    }

    private static Replayed replay(Workload workload, String policy, SimulatedNodes.Layout layout) {
        Replayed replayed = Replay.run(workload, ReplaySettings.of(policy, true, true, layout));
        assertThat(HistoryChecker.check(
                                DOMAIN, replayed.log(), replayed.outcome().decisions(), replayed.leases())
                        .violations())
                .isEmpty();
        return replayed;
    }

    private static Duration ran(Replayed replayed, String job) {
        JobResult result = replayed.outcome().results().jobs().stream()
                .filter(each -> each.job().value().equals(job))
                .findFirst()
                .orElseThrow();
        return Duration.between(
                result.started().orElseThrow(), result.completed().orElseThrow());
    }

    @Test
    void aJobTakesItsTimeByTheRatioOfItsKind() throws IOException {
        Replayed replayed = jobs(
                "tiresias",
                Map.of(SimulatedGpu.T4, 1, SimulatedGpu.V100, 1),
                "slow,0,2,3600,T4,T4:0.5;V100:1",
                "usual,0,2,3600,V100,T4:0.5;V100:1");

        assertThat(ran(replayed, "usual")).isBetween(Duration.ofHours(1), Duration.ofMinutes(61));
        assertThat(ran(replayed, "slow")).isBetween(Duration.ofHours(2), Duration.ofMinutes(121));
        assertThat(replayed.outcome().results().jobs())
                .extracting(JobResult::kinds)
                .containsExactlyInAnyOrder(List.of(SimulatedGpu.T4.kind()), List.of(SimulatedGpu.V100.kind()));
        assertThat(replayed.outcome().results().places())
                .hasSize(4)
                .allMatch(unit -> unit.pool() == Pool.TRAINING)
                .extracting(PlacedGpu::kind)
                .containsOnly(SimulatedGpu.T4.kind(), SimulatedGpu.V100.kind());
    }

    @Test
    void aServiceIsServedOnTheKindsThatItDeclares() throws IOException {
        Files.writeString(folder.resolve("rates.csv"), "epoch_s,value\n0,8\n300,8\n600,8\n");
        Path services = Files.writeString(folder.resolve("services.csv"), """
                service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale,kindCapacities
                web,rates.csv,0.05,20,500,8,1,T4:5
                """);
        Workload workload = Workloads.load(services.toString(), Scene.of(DOMAIN, 1, 4, 4));

        Replayed replayed = replay(
                workload,
                "deepboot",
                new SimulatedNodes.Layout(DOMAIN, 4, 2, 2, 1)
                        .withKinds(Map.of(SimulatedGpu.T4, 2, SimulatedGpu.A100, 2)));

        assertThat(replayed.outcome().decisions().stream()
                        .flatMap(decision -> decision.action().asServe().stream())
                        .filter(serve -> !serve.warm())
                        .flatMap(serve -> serve.gpus().stream()))
                .as("8 requests/s need a capacity of 9.4, and a T4 has 5")
                .isNotEmpty();
        assertThat(replayed.leases())
                .filteredOn(lease -> lease.owner().replicaOf().isPresent())
                .allMatch(lease -> lease.kind().equals(Optional.of(SimulatedGpu.T4.kind())));
    }

    @Test
    void reportsNameTheKind() throws IOException {
        Workload hetero = Presets.create("hetero", Scene.of(DOMAIN, 1, 12, 0));
        Workload some = new Workload("some", hetero.start(), hetero.tasks().subList(0, 6), List.of());

        Replayed replayed = replay(
                some, "deepboot", new SimulatedNodes.Layout(DOMAIN, 3, 4, 3, 1).withKinds(Presets.kinds("hetero", 3)));

        assertThat(replayed.log().stream()
                        .map(DomainEvent::event)
                        .filter(TrainingProgress.class::isInstance)
                        .map(TrainingProgress.class::cast)
                        .filter(progress -> progress.timing().stepSeconds().isPresent()))
                .isNotEmpty()
                .allMatch(progress -> progress.kind().isPresent());
    }

    /** How much shorter the average JCT is with a choice of kinds than without, as a share, for some seeds. */
    private static List<Double> gains(int nodes, int gpusPerNode, int jobs, int seeds) {
        List<Double> gains = new ArrayList<>();
        for (long seed = 1; seed <= seeds; seed++) {
            double aware = averageJct("deepboot", nodes, gpusPerNode, jobs, seed);
            double blind = averageJct("deepboot:kinds=blind", nodes, gpusPerNode, jobs, seed);
            System.out.printf(
                    "hetero, seed %d: average JCT %.2f h, %.2f h blind to kinds%n", seed, aware / 3600, blind / 3600);
            gains.add(1 - aware / blind);
        }
        return gains;
    }

    private static double averageJct(String policy, int nodes, int gpusPerNode, int jobs, long seed) {
        Workload hetero = Presets.create("hetero", Scene.of(DOMAIN, seed, nodes * gpusPerNode, 0));
        Workload some = new Workload("some", hetero.start(), hetero.tasks().subList(0, jobs), List.of());
        Summary summary = Summary.of(Replay.run(
                        some,
                        ReplaySettings.of(
                                        policy,
                                        true,
                                        true,
                                        new SimulatedNodes.Layout(DOMAIN, nodes, gpusPerNode, nodes, seed)
                                                .withKinds(Presets.kinds("hetero", nodes)))
                                .withoutLog())
                .outcome());
        assertThat(summary.jobs().completed()).isEqualTo(jobs);
        return summary.jct(Distribution::mean).orElseThrow();
    }

    private static void areLarge(List<Double> gains) {
        assertThat(gains).allMatch(gain -> gain > 0);
        assertThat(gains.stream().mapToDouble(gain -> gain).average().orElseThrow())
                .isGreaterThanOrEqualTo(0.1);
    }

    @Test
    void aPolicyThatChoosesKindsEndsJobsSooner() {
        areLarge(gains(4, 2, 30, 3));
    }

    /** For ten seeds: {@code ./lendstream replay --workload hetero --seeds 10}, in docs/workloads.md. */
    @Tag("long")
    @Test
    void soItDoesOnTheClusterOfThePreset() {
        areLarge(gains(16, 4, 80, 2));
    }
}

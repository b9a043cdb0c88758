package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.simulator.workload.LoanSize;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.WorkloadCluster;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Replays on different nodes with each size of loans. A service needs GPUs, then none, then some again. */
class LendReplayTest {
    private static final DomainId DOMAIN = new DomainId("replay");

    /** Inference has two racks of two nodes; one of them has nodes with two kinds of GPU. */
    private static final String WORKLOAD = """
            cluster:
              nodeGroups:
                - {nodes: 2, gpus: {A100: 2}, pool: inference, rack: r1, labels: {zone: east}}
                - {nodes: 1, gpus: {A100: 1, T4: 2}, pool: inference, rack: r2, labels: {zone: east}}
                - {nodes: 1, gpus: {A100: 2}, pool: inference, rack: r2, labels: {zone: west}}
                - {nodes: 1, gpus: {A100: 1}, pool: training}
            jobs:
              - {job: a, submitSeconds: 0, gpus: 1, runSeconds: 14000, elastic: true, maxGpus: 12}
              - {job: b, submitSeconds: 600, gpus: 1, runSeconds: 9000, elastic: true, maxGpus: 12}
            services:
              - {service: chat, series: rates.csv, secondsPerRequest: 0.05, replicaCapacityPerSecond: 20, sloMs: 500, warmUpSeconds: 8, scale: 1}
            """;

    @TempDir
    private Path folder;

    /** What happened in a replay. */
    private record Seen(Replayed replayed, boolean hasLoans, boolean hasReclaims, Set<String> mixed) {}

    private Seen replay(String lend, String policy, Function<GpuState, String> bundle) throws IOException {
        Files.writeString(
                folder.resolve("rates.csv"),
                "epoch_s,value\n0,10\n300,10\n600,0\n900,0\n1200,0\n1500,0\n1800,70\n2100,70\n2400,0\n2700,0\n3000,0\n3300,0\n");
        Path file = Files.writeString(folder.resolve("mixed.yaml"), WORKLOAD);
        WorkloadCluster cluster = Workloads.cluster(file.toString()).orElseThrow();
        SimulatedNodes.Layout layout = new SimulatedNodes.Layout(DOMAIN, 2, 1, 1, 1)
                .withGroups(cluster.groups().groups());
        Workload workload = Workloads.load(file.toString(), Scene.of(DOMAIN, 1, 1, 9));
        Replayed replayed = Replay.run(
                workload,
                ReplaySettings.of(policy, true, true, layout)
                        .withAbilities(LoanSize.of(lend).orElseThrow().of(Abilities.USUAL, false)));
        assertThat(HistoryChecker.check(
                                DOMAIN, replayed.log(), replayed.outcome().decisions(), replayed.leases())
                        .violations())
                .isEmpty();
        assertThat(replayed.outcome().results().jobs())
                .hasSize(2)
                .allSatisfy(job -> assertThat(job.completed()).isPresent());
        return new Seen(
                replayed,
                replayed.outcome().decisions().stream()
                        .anyMatch(decision -> decision.action().kind().equals("lend")),
                replayed.outcome().decisions().stream()
                        .anyMatch(decision -> decision.action().kind().equals("reclaim")),
                mixed(replayed, bundle));
    }

    /** The bundles of inference of which a job and a service that is awake had units at once. */
    private static Set<String> mixed(Replayed replayed, Function<GpuState, String> bundle) {
        Scheduler scheduler =
                Scheduler.of((SchedulerStarted) replayed.log().get(0).event());
        ClusterState state = ClusterState.empty(DOMAIN);
        Set<String> mixed = new HashSet<>();
        for (DomainEvent event : replayed.log()) {
            Step step = scheduler.step(state, event);
            state = step.state();
            if (step.changed().owners().isEmpty()) {
                continue;
            }
            Set<String> lent = new HashSet<>();
            Set<String> serving = new HashSet<>();
            for (GpuState unit : state.gpus().values()) {
                if (unit.pool() == Pool.INFERENCE) {
                    Owner owner = unit.owner();
                    if (owner.isHeldByJob()) {
                        lent.add(bundle.apply(unit));
                    } else if (owner.holdingService().isPresent() && !owner.isSleeping()) {
                        serving.add(bundle.apply(unit));
                    }
                }
            }
            lent.retainAll(serving);
            mixed.addAll(lent);
        }
        return mixed;
    }

    private static String node(GpuState unit) {
        return unit.nodeId().value();
    }

    /** The racks of the nodes of inference, which come after the node of training. */
    private static String rack(GpuState unit) {
        return Set.of("node-01", "node-02").contains(node(unit)) ? "r1" : "r2";
    }

    private static String zone(GpuState unit) {
        return node(unit).equals("node-04") ? "west" : "east";
    }

    private static String bundle(String lend, GpuState unit) {
        return switch (lend) {
            case "gpu" -> unit.gpuId().value();
            case "node" -> node(unit);
            case "group:rack" -> rack(unit);
            case "group:zone" -> zone(unit);
            default -> "all";
        };
    }

    @ParameterizedTest
    @CsvSource({
        "gpu, deepboot",
        "node, deepboot",
        "group, deepboot",
        "group:rack, deepboot",
        "group:zone, deepboot",
        "group:rack, lendstream",
        "group:rack, lyra",
        "group, tiresias"
    })
    void noUnitOfABundleIsLentWhileAnotherServes(String lend, String policy) throws IOException {
        Seen seen = replay(lend, policy, unit -> bundle(lend, unit));

        assertThat(seen.mixed()).isEmpty();
        assertThat(seen.hasLoans()).as("loans").isTrue();
        assertThat(seen.hasReclaims()).as("reclaims").isTrue();
    }

    @Test
    void smallerLoansMixWhatLargerOnesKeepApart() throws IOException {
        assertThat(replay("gpu", "deepboot", LendReplayTest::node).mixed()).isNotEmpty();
        assertThat(replay("node", "deepboot", LendReplayTest::rack).mixed()).isNotEmpty();
        assertThat(replay("group:rack", "deepboot", any -> "all").mixed()).isNotEmpty();
    }
}

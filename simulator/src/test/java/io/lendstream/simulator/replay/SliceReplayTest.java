package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.WorldResults;
import io.lendstream.simulator.report.OwnerGroup;
import io.lendstream.simulator.report.ReportedRun;
import io.lendstream.simulator.workload.LoanSize;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.WorkloadCluster;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Replays on nodes with MIG instances. Jobs keep the only GPU of training busy, so that others wait. */
class SliceReplayTest {
    private static final DomainId DOMAIN = new DomainId("replay");
    private static final double SECONDS = 3600;
    /** The GPU of training, the one that serves, and an A100 of seven compute slices. */
    private static final double GPUS = 3;

    private static final String WORKLOAD = """
            cluster:
              lend: slice
              nodeGroups:
                - {nodes: 1, gpus: {A100: 1}, pool: training}
                - {nodes: 1, gpus: {A100: 1, T4: 1}, pool: inference, mig: {A100: [3g.40gb, 2g.20gb, 1g.10gb, 1g.10gb]}}
            jobs:
              - {job: first, submitSeconds: 0, gpus: 1, runSeconds: 7200, kinds: [A100]}
              - {job: small, submitSeconds: 60, gpus: 1, runSeconds: 600, kinds: [A100], sliceMemoryGib: 12}
              - {job: large, submitSeconds: 60, gpus: 1, runSeconds: 600, kinds: [A100], sliceMemoryGib: 60}
            services:
              - {service: chat, series: rates.csv, secondsPerRequest: 0.05, replicaCapacityPerSecond: 20, sloMs: 500, warmUpSeconds: 8, scale: 1}
            """;

    @TempDir
    private Path folder;

    private Replayed replay(String lend, String policy) throws IOException {
        Files.writeString(folder.resolve("rates.csv"), "epoch_s,value\n0,10\n300,10\n600,10\n");
        Path file = Files.writeString(folder.resolve("cut.yaml"), WORKLOAD);
        WorkloadCluster cluster = Workloads.cluster(file.toString()).orElseThrow();
        SimulatedNodes.Layout layout = new SimulatedNodes.Layout(DOMAIN, 2, 1, 1, 1)
                .withGroups(cluster.groups().groups());
        Workload workload = Workloads.load(file.toString(), Scene.of(DOMAIN, 1, 1, 1));
        Replayed replayed = Replay.run(
                workload,
                ReplaySettings.of(policy, true, true, layout)
                        .withAbilities(LoanSize.of(lend)
                                .orElseThrow()
                                .of(Abilities.USUAL, cluster.groups().haveInstances())));
        assertThat(HistoryChecker.check(
                                DOMAIN, replayed.log(), replayed.outcome().decisions(), replayed.leases())
                        .violations())
                .isEmpty();
        return replayed;
    }

    private static List<GpuId> lentTo(Replayed replayed, String job) {
        return replayed.outcome().decisions().stream()
                .map(Decision::action)
                .filter(action ->
                        action instanceof Action.Lend && action.target().equals(job))
                .flatMap(action -> action.gpus().stream())
                .toList();
    }

    private static JobResult result(Replayed replayed, String job) {
        return replayed.outcome().results().jobs().stream()
                .filter(each -> each.job().equals(new JobId(job)))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aWaitingSmallJobBorrowsTheSmallestInstanceThatFitsAndGivesItBack() throws IOException {
        Replayed replayed = replay("slice", "deepboot");

        assertThat(lentTo(replayed, "small"))
                .hasSize(1)
                .allMatch(unit -> unit.value().endsWith(":2"));
        assertThat(lentTo(replayed, "large")).isEmpty();
        // 2 of 7 compute slices: 600 s of work take 2100 s.
        JobResult small = result(replayed, "small");
        assertThat(seconds(small)).isBetween(2100.0, 2200.0);
        assertThat(small.gpuSeconds()).isCloseTo(seconds(small) * 2 / 7, within(30.0));
        assertThat(seconds(result(replayed, "large"))).isGreaterThan(7000);
        assertThat(replayed.outcome().results().lentGpuSeconds()).isCloseTo(small.gpuSeconds(), within(30.0));
        assertThat(replayed.leases())
                .filteredOn(lease -> lease.gpuId().value().contains("/"))
                .hasSize(4)
                .allMatch(lease -> lease.owner().isFree());
    }

    /** These policies stop jobs for others, so that the small job has the GPU of training in between. */
    @ParameterizedTest
    @ValueSource(strings = {"lendstream", "lyra"})
    void otherPoliciesLendInstancesToo(String policy) throws IOException {
        Replayed replayed = replay("slice", policy);

        assertThat(lentTo(replayed, "small"))
                .isNotEmpty()
                .allMatch(unit -> unit.value().endsWith(":2"));
        assertThat(lentTo(replayed, "large")).isEmpty();
        assertThat(replayed.outcome().results().lentGpuSeconds()).isPositive();
        assertThat(replayed.leases())
                .filteredOn(lease -> lease.gpuId().value().contains("/"))
                .allMatch(lease -> lease.owner().isFree());
    }

    @ParameterizedTest
    @CsvSource({"gpu, deepboot", "gpu, lendstream", "node, deepboot"})
    void noInstanceIsLentWhereTheLeastIsMore(String lend, String policy) throws IOException {
        Replayed replayed = replay(lend, policy);

        assertThat(lentTo(replayed, "small")).noneMatch(unit -> unit.value().contains("/"));
        assertThat(result(replayed, "small").completed()).isPresent();
        assertThat(replayed.outcome().results().lentGpuSeconds()).isZero();
    }

    @Test
    void onlyAnActuatorThatLendsNoInstancesDescribesItself() throws IOException {
        assertThat(described(replay("slice", "deepboot"))).isEmpty();
        assertThat(described(replay("gpu", "deepboot"))).hasSize(1).allMatch(text -> text.contains("lends gpu,"));
    }

    private static List<String> described(Replayed replayed) {
        return replayed.log().stream()
                .map(DomainEvent::event)
                .filter(ActuatorDescription.class::isInstance)
                .map(event -> ((ActuatorDescription) event).abilities().inWords())
                .toList();
    }

    /** Used and idle: the owners of the report hold all compute slices at all times, and the cut GPU is none of them. */
    @ParameterizedTest
    @ValueSource(strings = {"slice", "gpu"})
    void usedAndIdleGpuTimeAddsUpToAllComputeSlices(String lend) throws IOException {
        Replayed replayed = replay(lend, "deepboot");
        WorldResults results = replayed.outcome().results();

        assertThat(results.gpus()).isCloseTo(GPUS, within(1e-9));
        assertThat(results.places()).hasSize(6);
        ReportedRun run = replayed.facts();
        double width = run.period().sampleStep().toMillis() / 1000.0;
        double lent = 0;
        for (ReportedRun.OwnerSample sample :
                run.owners().subList(1, run.owners().size() - 1)) {
            assertThat(sample.gpus().values().stream().mapToDouble(each -> each).sum())
                    .isCloseTo(GPUS, within(1e-6));
            lent += sample.gpus().getOrDefault(OwnerGroup.LENT, 0.0) * width;
        }
        assertThat(lent).isCloseTo(results.lentGpuSeconds(), within(60.0));
        assertThat(results.lentGpuSeconds() / SECONDS).isLessThan(1);
        double used = results.jobs().stream().mapToDouble(JobResult::gpuSeconds).sum();
        double all = GPUS * Duration.between(results.start(), results.now()).toSeconds();
        assertThat(used).isBetween(7200.0, all);
        assertThat(results.gpuUtilization()).isBetween(0.1, 1.0);
    }

    @Test
    void noInstanceHasTwoTenantsAndNoTenantHasACutGpu() throws IOException {
        Replayed replayed = replay("slice", "deepboot");
        Scheduler scheduler =
                Scheduler.of((SchedulerStarted) replayed.log().get(0).event());
        ClusterState state = ClusterState.empty(DOMAIN);
        Set<GpuId> parents = new HashSet<>();
        Map<String, Integer> most = new HashMap<>();
        for (DomainEvent event : replayed.log()) {
            event.event()
                    .asNode()
                    .map(Node::gpus)
                    .ifPresent(gpus ->
                            gpus.stream().filter(gpu -> gpu.migEnabled()).forEach(gpu -> parents.add(gpu.gpuId())));
            Step step = scheduler.step(state, event);
            state = step.state();
            Map<String, Integer> held = new HashMap<>();
            Map<GpuId, Set<Integer>> memory = new HashMap<>();
            for (GpuState unit : state.gpus().values()) {
                assertThat(parents).doesNotContain(unit.gpuId());
                unit.owner().holdingJob().ifPresent(job -> held.merge(job.value(), 1, Integer::sum));
                unit.instance().filter(any -> !unit.isFree()).ifPresent(instance -> {
                    for (int i = 0; i < instance.size(); i++) {
                        assertThat(memory.computeIfAbsent(instance.gpu(), any -> new HashSet<>())
                                        .add(instance.start() + i))
                                .as("memory slice %d", instance.start() + i)
                                .isTrue();
                    }
                });
            }
            held.forEach((job, units) -> most.merge(job, units, Math::max));
        }
        assertThat(parents).hasSize(1);
        assertThat(most).containsEntry("small", 1).containsEntry("first", 1);
    }

    private static double seconds(JobResult job) {
        return Optional.of(job)
                .flatMap(JobResult::completionTime)
                .map(time -> time.toMillis() / 1000.0)
                .orElseThrow();
    }
}

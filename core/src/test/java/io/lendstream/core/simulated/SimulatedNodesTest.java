package io.lendstream.core.simulated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigPlace;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SimulatedNodesTest {
    private static final DomainId DOMAIN = new DomainId("d");
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration PERIOD = Duration.ofSeconds(10);

    private final SimulatedNodes nodes = nodes(7);

    @Test
    void theFirstNodesAreTrainingsAndTheRestInferences() {
        assertThat(nodes.inventory())
                .extracting(node -> node.nodeId().value())
                .containsExactly("node-00", "node-01", "node-02");
        assertThat(nodes.inventory())
                .extracting(Node::pool)
                .containsExactly(Pool.TRAINING, Pool.INFERENCE, Pool.INFERENCE);
    }

    @Test
    void everyGpuHasANameOfItsOwnAndKeepsItWhateverTheSeed() {
        List<GpuId> names = gpus(nodes);

        assertThat(names)
                .hasSize(6)
                .doesNotHaveDuplicates()
                .allMatch(
                        gpu -> gpu.value().matches("GPU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));
        assertThat(gpus(nodes(8))).isEqualTo(names);
    }

    @Test
    void samplesComeEveryPeriodFromEveryNodeWithNumbersThatGoUp() {
        List<GpuTelemetry> samples = nodes.samplesUntil(START.plusSeconds(25));

        assertThat(samples)
                .extracting(GpuTelemetry::at)
                .containsOnly(START.plusSeconds(10), START.plusSeconds(20))
                .hasSize(6);
        assertThat(samples).extracting(GpuTelemetry::sequence).containsExactly(1L, 1L, 1L, 2L, 2L, 2L);
        assertThat(nodes.samplesUntil(START.plusSeconds(25))).isEmpty();
        assertThat(nodes.nextSampleAt()).isEqualTo(START.plusSeconds(30));
    }

    @Test
    void equalSeedsGiveEqualSamplesAndOthersDoNot() {
        GpuId gpu = gpus(nodes).get(0);
        var twin = nodes(7);
        var other = nodes(8);
        List.of(nodes, twin, other).forEach(each -> each.observe(report(Outcome.BOUND, gpu)));

        List<GpuTelemetry> samples = nodes.samplesUntil(START.plusSeconds(100));

        assertThat(twin.samplesUntil(START.plusSeconds(100))).isEqualTo(samples);
        assertThat(other.samplesUntil(START.plusSeconds(100))).isNotEqualTo(samples);
    }

    @Test
    void aGpuIsBusyFromItsBindToItsRelease() {
        GpuId gpu = gpus(nodes).get(0);

        assertThat(sample(gpu).activity().utilization()).contains(0.0);

        nodes.observe(report(Outcome.BOUND, gpu));
        assertThat(sample(gpu).activity().utilization())
                .hasValueSatisfying(busy -> assertThat(busy).isBetween(0.85, 1.0));
        assertThat(sample(gpu).power().powerWatts())
                .hasValueSatisfying(watts -> assertThat(watts).isBetween(330.0, 400.0));

        nodes.observe(report(Outcome.RELEASED, gpu));
        assertThat(sample(gpu).activity().utilization()).contains(0.0);
        assertThat(sample(gpu).power().powerWatts())
                .hasValueSatisfying(watts -> assertThat(watts).isBetween(50.0, 70.0));
    }

    @Test
    void aSleepingReplicaKeepsItsMemoryAndDoesNothing() {
        GpuId gpu = gpus(nodes).get(2);

        nodes.observe(new Lease(
                gpu,
                nodes.inventory().get(1).nodeId(),
                DOMAIN,
                Pool.INFERENCE,
                new Owner.Sleeping(new ServiceId("chat")),
                1,
                1,
                START,
                Optional.empty()));

        assertThat(sample(gpu).activity().utilization()).contains(0.0);
        assertThat(sample(gpu).memory().memoryUsedBytes())
                .hasValueSatisfying(used -> assertThat(used).isGreaterThan(20L << 30));
    }

    @Test
    void moreTrainingNodesThanNodesAreRefused() {
        assertThatThrownBy(() -> new SimulatedNodes.Layout(DOMAIN, 2, 4, 3, 0))
                .hasMessage("trainingNodes must lie between 0 and 2, the number of nodes, but was 3");
    }

    @Test
    void kindsAreSpreadEvenlyOverThePools() {
        SimulatedNodes.Layout layout = new SimulatedNodes.Layout(DOMAIN, 6, 2, 3, 0)
                .withKinds(Map.of(SimulatedGpu.A100, 2, SimulatedGpu.T4, 4));

        assertThat(layout.gpusByNode())
                .flatExtracting(Map::keySet)
                .containsExactly(
                        SimulatedGpu.T4,
                        SimulatedGpu.A100,
                        SimulatedGpu.T4,
                        SimulatedGpu.T4,
                        SimulatedGpu.A100,
                        SimulatedGpu.T4);
        assertThat(layout.gpusOfKinds(3)).isEqualTo(Map.of(SimulatedGpu.A100, 2, SimulatedGpu.T4, 4));
        assertThat(new SimulatedNodes(layout, START, PERIOD, "boot")
                        .inventory()
                        .get(0)
                        .gpus())
                .allMatch(gpu -> gpu.model().equals("Tesla T4") && gpu.memoryBytes() == 16L << 30);
        assertThat(new SimulatedNodes.Layout(DOMAIN, 3, 2, 1, 0).gpusByNode())
                .containsOnly(Map.of(SimulatedGpu.A100, 2))
                .hasSize(3);
    }

    @Test
    void neighboursShareARackAndKeepItAfterARestart() {
        SimulatedTopology topology = new SimulatedTopology(1, 2);
        SimulatedNodes racks =
                new SimulatedNodes(new SimulatedNodes.Layout(DOMAIN, 3, 1, 3, 0).with(topology), START, PERIOD, "boot");

        assertThat(racks.inventory())
                .extracting(node -> topology.labels().domain(node, TopologyLevel.RACK))
                .containsExactly("rack-0", "rack-0", "rack-1");
        assertThat(racks.inventory())
                .extracting(node -> topology.labels().domain(node, TopologyLevel.NVLINK_DOMAIN))
                .containsExactly("nvlink-0", "nvlink-1", "nvlink-2");

        Node last = racks.inventory().get(2);
        racks.lose(last.nodeId());
        assertThat(racks.restart(last.nodeId(), START.plusSeconds(60)).facts()).isEqualTo(last.facts());
        assertThat(nodes.inventory()).allMatch(node -> node.facts().equals(NodeFacts.NONE));
    }

    @Test
    void nodesReportTheirHostsIfTheLayoutHasThem() {
        SimulatedTopology topology = new SimulatedTopology(0, 2).with(SimulatedHost.of(64, 512L << 30));
        SimulatedNodes hosts =
                new SimulatedNodes(new SimulatedNodes.Layout(DOMAIN, 2, 1, 1, 0).with(topology), START, PERIOD, "boot");

        assertThat(hosts.inventory()).allSatisfy(node -> {
            assertThat(node.facts().cpuMillis()).contains(64_000L);
            assertThat(node.facts().memoryBytes()).contains(512L << 30);
            assertThat(node.facts().labels()).isNotEmpty();
        });
    }

    @Test
    void nodesOfGroupsHaveTheirGpusLabelsAndHosts() {
        SimulatedGroup mixed = new SimulatedGroup(
                1,
                Map.of(SimulatedGpu.T4, 1, SimulatedGpu.A100, 2),
                Map.of(SimulatedTopology.RACK, "r1", "zone", "east"),
                SimulatedHost.of(96, 0));
        SimulatedGroup plain = new SimulatedGroup(2, Map.of(SimulatedGpu.L4, 8), Map.of(), SimulatedHost.NONE);
        SimulatedNodes.Layout layout = new SimulatedNodes.Layout(DOMAIN, 1, 1, 1, 0)
                .with(SimulatedTopology.NONE.with(SimulatedHost.of(48, 0)))
                .withGroups(List.of(mixed, plain));
        List<Node> inventory = new SimulatedNodes(layout, START, PERIOD, "boot").inventory();

        assertThat(layout.nodes()).isEqualTo(3);
        assertThat(layout.gpusPerNode()).as("the most").isEqualTo(8);
        assertThat(layout.gpusOf(1)).isEqualTo(3);
        assertThat(layout.gpusOfKinds(3))
                .isEqualTo(Map.of(SimulatedGpu.A100, 2, SimulatedGpu.T4, 1, SimulatedGpu.L4, 16));
        assertThat(inventory).extracting(Node::pool).containsExactly(Pool.TRAINING, Pool.INFERENCE, Pool.INFERENCE);
        assertThat(inventory.get(0).gpus())
                .extracting(gpu -> "%d %s".formatted(gpu.index(), gpu.model()))
                .containsExactly("0 NVIDIA A100-SXM4-80GB", "1 NVIDIA A100-SXM4-80GB", "2 Tesla T4");
        assertThat(inventory)
                .extracting(node -> node.facts().cpuMillis().orElseThrow())
                .containsExactly(96_000L, 48_000L, 48_000L);
        assertThat(inventory.get(0).facts().labels()).containsEntry("zone", "east");
        assertThat(layout.labels().domain(inventory.get(0), TopologyLevel.RACK)).isEqualTo("r1");
        assertThat(layout.labels().domain(inventory.get(1), TopologyLevel.RACK)).isEqualTo("node node-01");
        assertThat(layout.labels().nvlinkDomain()).isEmpty();
    }

    @Test
    void aNodeHasMigInstancesBesideWholeGpus() {
        MigGpu a100 = SimulatedGpu.A100.mig().orElseThrow();
        List<MigPlace> cut = Stream.of("3g.40gb@4", "1g.10gb@0")
                .map(place -> MigPlace.parse(a100, place).orElseThrow())
                .toList();
        SimulatedGroup group = new SimulatedGroup(
                1,
                Map.of(SimulatedGpu.A100, 1, SimulatedGpu.T4, 2),
                Map.of(),
                SimulatedHost.NONE,
                Map.of(SimulatedGpu.A100, cut));
        SimulatedNodes.Layout layout = new SimulatedNodes.Layout(DOMAIN, 1, 1, 0, 0).withGroups(List.of(group));
        Node node =
                new SimulatedNodes(layout, START, PERIOD, "boot").inventory().get(0);

        assertThat(layout.gpusPerNode()).isEqualTo(3);
        assertThat(layout.gpusByNode()).as("whole ones").containsExactly(Map.of(SimulatedGpu.T4, 2));
        assertThat(layout.products()).containsExactly(SimulatedGpu.A100, SimulatedGpu.T4);
        assertThat(node.gpus()).extracting(Gpu::migEnabled).containsExactly(true, false, false);
        Gpu gpu = node.gpus().get(0);
        assertThat(gpu.instances())
                .extracting(instance -> "%s %s %.1f"
                        .formatted(
                                instance.gpuId()
                                        .value()
                                        .substring(gpu.gpuId().value().length()),
                                instance.profile(),
                                7 * gpu.share(instance)))
                .containsExactly("/4:4 3g.40gb 3.0", "/0:1 1g.10gb 1.0");
    }

    @Test
    void cutsThatNoGpuHasAreRefused() {
        MigPlace place = MigPlace.parse(SimulatedGpu.A100.mig().orElseThrow(), "3g.40gb@4")
                .orElseThrow();

        assertThatThrownBy(() -> cut(SimulatedGpu.T4, List.of(place)))
                .hasMessage("nodes with {A100=1, T4=1} have no T4 with the MIG instances [3g.40gb@4]");
        assertThatThrownBy(() -> cut(SimulatedGpu.A100, List.of(place, place)))
                .hasMessageContaining("have no A100 with the MIG instances [3g.40gb@4, 3g.40gb@4]");
        assertThatThrownBy(() -> cut(SimulatedGpu.H100, List.of(place))).hasMessageContaining("have no H100");
        assertThatThrownBy(() -> cut(SimulatedGpu.A100, List.of())).hasMessageContaining("have no A100");
    }

    private static SimulatedGroup cut(SimulatedGpu product, List<MigPlace> places) {
        return new SimulatedGroup(
                1,
                Map.of(SimulatedGpu.A100, 1, SimulatedGpu.T4, 1),
                Map.of(),
                SimulatedHost.NONE,
                Map.of(product, places));
    }

    @Test
    void groupsThatDoNotFitTheNodesAreRefused() {
        SimulatedNodes.Layout groups = new SimulatedNodes.Layout(DOMAIN, 1, 1, 1, 0)
                .withGroups(List.of(new SimulatedGroup(2, Map.of(SimulatedGpu.L4, 8), Map.of(), SimulatedHost.NONE)));

        assertThatThrownBy(() -> groups.withKinds(Map.of(SimulatedGpu.T4, 2)))
                .hasMessage("groups must have as many nodes as the layout, 2, without kinds and cutNodes, but have 2");
        assertThatThrownBy(() -> new SimulatedGroup(1, Map.of(), Map.of(), SimulatedHost.NONE))
                .hasMessage("a group must have at least one node with at least one GPU, but has 1 with {}");
    }

    @Test
    void kindsThatDoNotFitTheNodesAreRefused() {
        SimulatedNodes.Layout layout = new SimulatedNodes.Layout(DOMAIN, 2, 4, 1, 0);

        assertThatThrownBy(() -> layout.withKinds(Map.of(SimulatedGpu.T4, 3)))
                .hasMessage("kinds must have as many nodes as the layout, 2, but have 3");
        assertThatThrownBy(() -> new SimulatedNodes.Layout(DOMAIN, 2, 4, 1, 1, 0).withKinds(Map.of(SimulatedGpu.T4, 2)))
                .hasMessage("nodes of several kinds are not cut, but cutNodes was 1");
    }

    private GpuSample sample(GpuId gpu) {
        return nodes.sampleNow(START.plusSeconds(5)).stream()
                .flatMap(telemetry -> telemetry.gpus().stream())
                .filter(sample -> sample.gpuId().equals(gpu))
                .findFirst()
                .orElseThrow();
    }

    private static ActuationReport report(Outcome outcome, GpuId gpu) {
        return new ActuationReport(
                DOMAIN,
                new DecisionId(DOMAIN, 1, 1),
                "a",
                START,
                outcome,
                List.of(gpu),
                Optional.of(new Tenant.Job(new JobId("job"))),
                Timings.NONE,
                "");
    }

    private static List<GpuId> gpus(SimulatedNodes nodes) {
        return nodes.inventory().stream()
                .flatMap(node -> node.gpus().stream())
                .map(gpu -> gpu.gpuId())
                .toList();
    }

    private static SimulatedNodes nodes(long seed) {
        return new SimulatedNodes(new SimulatedNodes.Layout(DOMAIN, 3, 2, 1, seed), START, PERIOD, "boot");
    }
}

package io.lendstream.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.agent.exposition.Exposition;
import io.lendstream.agent.gpu.GpuProbe;
import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.agent.http.GpuPages;
import io.lendstream.agent.publish.RecordSink;
import io.lendstream.agent.users.Users;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.schemas.topics.Topic;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeWatchTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final GpuId ID = new GpuId("GPU-1");
    private static final Gpu WHOLE = Gpu.whole(ID, 0, "NVIDIA H100 80GB HBM3", 80L << 30);

    private static final NodeFacts LABELS = new NodeFacts(Map.of("rack", "r1"));

    @TempDir
    Path directory;

    private final List<Node> nodes = new ArrayList<>();
    private final List<GpuTelemetry> samples = new ArrayList<>();
    private final Script probe = new Script();
    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private Optional<String> migChange = Optional.empty();

    /** Returns the test's snapshot, until it is paused. */
    private static final class Script implements GpuProbe {
        private GpuSnapshot sight = ready(WHOLE);
        private Optional<String> paused = Optional.empty();

        @Override
        public GpuSnapshot look(Instant now) {
            return paused.map(why -> GpuSnapshot.without(NodeStatus.PAUSED, why, List.of(WHOLE), Optional.empty()))
                    .orElse(sight);
        }

        @Override
        public void pause(String why) {
            paused = Optional.of(why);
        }

        @Override
        public void resume() {
            paused = Optional.empty();
        }

        @Override
        public void close() {}
    }

    private final class Kept implements RecordSink {
        @Override
        public <T> void publish(Topic<T> topic, String key, T value, List<String> remarks) {
            assertThat(key).isEqualTo("n1");
            if (value instanceof Node node) {
                nodes.add(node);
            } else if (value instanceof GpuTelemetry sample) {
                samples.add(sample);
            }
        }
    }

    @Test
    void tellsTheInventoryOnceAndSamplesAtEachLook() {
        NodeWatch watch = watch(Optional.empty(), Optional.empty());
        watch.look(NOON);
        watch.look(NOON.plusSeconds(1));

        assertThat(nodes).extracting(Node::status).containsExactly(NodeStatus.READY);
        assertThat(nodes).extracting(Node::facts).containsExactly(LABELS);
        assertThat(samples).extracting(GpuTelemetry::sequence).containsExactly(1L, 2L);
        assertThat(samples).extracting(GpuTelemetry::bootId).containsOnly("boot");
    }

    @Test
    void tellsTheInventoryAgainWhenItChangesAndNowAndThen() {
        NodeWatch watch = watch(Optional.empty(), Optional.empty());
        watch.look(NOON);
        probe.sight = ready(WHOLE.switchable());
        watch.look(NOON.plusSeconds(1));
        watch.look(NOON.plusSeconds(30));
        watch.look(NOON.plusSeconds(31));

        assertThat(nodes).extracting(Node::at).containsExactly(NOON, NOON.plusSeconds(1), NOON.plusSeconds(31));
    }

    @Test
    void aNodeWithoutDriverIsPublishedAsSuchAndHasNoSamples() {
        probe.sight = GpuSnapshot.without(NodeStatus.UNAVAILABLE, "no driver", List.of(), Optional.empty());
        watch(Optional.empty(), Optional.empty()).look(NOON);

        assertThat(nodes).extracting(Node::status).containsExactly(NodeStatus.UNAVAILABLE);
        assertThat(samples).isEmpty();
        assertThat(metrics.get("lendstream.gpu.looks").counters())
                .as("all from 0 on")
                .extracting(counter -> counter.getId().getTag("status") + " " + counter.count())
                .containsExactlyInAnyOrder("ready 0.0", "paused 0.0", "unavailable 1.0");
    }

    @Test
    void duringMaintenanceTheGpusAreReleased() throws IOException {
        Path marker = directory.resolve("maintenance");
        NodeWatch watch = watch(Optional.of(marker), Optional.empty());
        watch.look(NOON);
        Files.createFile(marker);
        watch.look(NOON.plusSeconds(1));
        Files.delete(marker);
        watch.look(NOON.plusSeconds(2));

        assertThat(nodes)
                .extracting(Node::status)
                .containsExactly(NodeStatus.READY, NodeStatus.PAUSED, NodeStatus.READY);
        assertThat(samples).hasSize(2);
    }

    @Test
    void whileMigIsChangedTheGpusAreLetGo() throws IOException {
        Path labels = Files.writeString(directory.resolve("labels"), """
                nvidia.com/gpu.present="true"
                nvidia.com/mig.config.state="pending"
                """);
        NodeWatch watch = watch(Optional.empty(), Optional.of(labels));
        watch.look(NOON);
        Files.writeString(labels, "nvidia.com/mig.config.state=\"success\"\n");
        watch.look(NOON.plusSeconds(1));

        assertThat(nodes).extracting(Node::status).containsExactly(NodeStatus.PAUSED, NodeStatus.READY);
    }

    @Test
    void whileTheApiServerSaysThatMigIsChangedTheGpusAreLetGoAtOnce() {
        NodeWatch watch = watch(Optional.empty(), Optional.empty());
        watch.look(NOON);
        watch.heed(NOON.plusSeconds(1));
        migChange = Optional.of("MIG is being changed: the node's label nvidia.com/mig.config.state is pending");
        watch.heed(NOON.plusSeconds(2));
        watch.heed(NOON.plusSeconds(3));
        migChange = Optional.empty();
        watch.heed(NOON.plusSeconds(4));

        assertThat(nodes)
                .extracting(Node::status)
                .containsExactly(NodeStatus.READY, NodeStatus.PAUSED, NodeStatus.READY);
        assertThat(nodes).extracting(Node::at).containsExactly(NOON, NOON.plusSeconds(2), NOON.plusSeconds(4));
        assertThat(nodes.get(1).why()).contains("nvidia.com/mig.config.state is pending");
    }

    @Test
    void whatWantsToBeLookedAtSoonerIs() {
        NodeWatch watch = watch(Optional.empty(), Optional.empty());
        probe.sight = new GpuSnapshot(
                NodeStatus.READY,
                "",
                List.of(WHOLE),
                List.of(),
                List.of(),
                Set.of(),
                Optional.empty(),
                Optional.of(Duration.ofSeconds(2)));
        watch.look(NOON);
        watch.heed(NOON.plusSeconds(1));
        watch.heed(NOON.plusSeconds(2));

        assertThat(samples).extracting(GpuTelemetry::at).containsExactly(NOON, NOON.plusSeconds(2));
    }

    @Test
    void inventoriesAreNumberedAndSayWhatIsTheMatter() {
        NodeWatch watch = watch(Optional.empty(), Optional.empty());
        probe.sight = GpuSnapshot.without(NodeStatus.UNAVAILABLE, "no driver", List.of(), Optional.empty());
        watch.look(NOON);
        watch.look(NOON.plusSeconds(1));
        probe.sight = GpuSnapshot.without(NodeStatus.UNAVAILABLE, "no GPU", List.of(), Optional.empty());
        watch.look(NOON.plusSeconds(2));
        probe.sight = ready(WHOLE);
        watch.look(NOON.plusSeconds(3));

        assertThat(nodes).extracting(Node::sequence).containsExactly(1L, 2L, 3L);
        assertThat(nodes).extracting(Node::why).containsExactly("no driver", "no GPU", "");
    }

    @Test
    void whatComesAndGoesOnANodeThatIsReadyWaitsForTheNextInventory() {
        NodeWatch watch = watch(Optional.empty(), Optional.empty());
        watch.look(NOON);
        probe.sight = probe.sight.with(probe.sight.samples(), "the kubelet does not answer");
        watch.look(NOON.plusSeconds(1));
        watch.look(NOON.plusSeconds(30));

        assertThat(nodes).extracting(Node::why).containsExactly("", "the kubelet does not answer");
    }

    @Test
    void othersReadTheGpusByTheNamesThatTheyKnow() {
        String dcgm = GpuPages.dcgm(new NodeId("n1"), probe.sight);
        String hardware = GpuPages.hardware(new NodeId("n1"), probe.sight);

        assertThat(dcgm.lines())
                .contains(
                        "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-1\",device=\"nvidia0\",modelName=\"NVIDIA H100 80GB HBM3\",hostname=\"n1\"} 25",
                        "DCGM_FI_DEV_FB_USED{gpu=\"0\",UUID=\"GPU-1\",device=\"nvidia0\",modelName=\"NVIDIA H100 80GB HBM3\",hostname=\"n1\"} 1024")
                .noneMatch(line -> line.contains("DCGM_FI_DEV_POWER_USAGE{"));
        assertThat(hardware.lines())
                .contains(
                        "hw_gpu_utilization_ratio{hw_id=\"GPU-1\",hw_type=\"gpu\",hw_vendor=\"NVIDIA\",hw_model=\"NVIDIA H100 80GB HBM3\",host_name=\"n1\"} 0.25");
        assertThat(Exposition.parse(dcgm))
                .extracting(family -> family.name())
                .containsExactly(
                        "DCGM_FI_DEV_MIG_MODE",
                        "DCGM_FI_DEV_GPU_TEMP",
                        "DCGM_FI_DEV_GPU_UTIL",
                        "DCGM_FI_DEV_FB_FREE",
                        "DCGM_FI_DEV_FB_USED");
        assertThat(Exposition.parse(hardware))
                .extracting(family -> family.name())
                .contains("hw_status");
    }

    @Test
    void aGpuThatOneAloneUsesHasHisNameAmongDcgmsLabels() {
        assertThat(GpuPages.dcgm(new NodeId("n1"), usedBy("kubernetes/ml/chat-0/main")))
                .contains("hostname=\"n1\",container=\"main\",namespace=\"ml\",pod=\"chat-0\"}");
        assertThat(GpuPages.dcgm(new NodeId("n1"), usedBy("slurm/4711"))).contains("hostname=\"n1\",hpc_job=\"4711\"}");
        assertThat(GpuPages.dcgm(new NodeId("n1"), usedBy("slurm/4711", "slurm/4712")))
                .contains("hostname=\"n1\"}")
                .doesNotContain("hpc_job");
    }

    private GpuSnapshot usedBy(String... users) {
        return probe.sight.with(List.of(probe.sight.samples().get(0).withUsers(List.of(users))), "");
    }

    private NodeWatch watch(Optional<Path> marker, Optional<Path> labels) {
        return new NodeWatch(
                new Identity(new NodeId("n1"), new DomainId("d"), Pool.INFERENCE, "boot", LABELS),
                probe,
                Users.UNASKED,
                new Maintenance(marker, labels, () -> migChange),
                Duration.ofSeconds(30),
                new Kept(),
                metrics);
    }

    private static GpuSnapshot ready(Gpu gpu) {
        GpuSample sample = GpuSample.of(ID)
                .utilization(.25)
                .memoryUsedBytes(1L << 30)
                .memoryTotalBytes(80L << 30)
                .temperatureCelsius(41)
                .build();
        return new GpuSnapshot(NodeStatus.READY, "", List.of(gpu), List.of(sample), Optional.empty());
    }
}

package io.lendstream.agent.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.InstanceProfile;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SizeCount;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecordedProbeTest {
    private static final Instant NOON = Instant.parse("2026-06-01T12:00:00Z");
    private static final DomainId EAST = new DomainId("east");

    @TempDir
    Path directory;

    private static Gpu gpu() {
        return new Gpu(
                new GpuId("GPU-\"0\""),
                0,
                "NVIDIA H200",
                141L << 30,
                Optional.empty(),
                true,
                List.of(new GpuInstance(new GpuId("GPU-0/0:1"), "1g.18gb", 0, 1, 16L << 30, Optional.of("MIG-0"))),
                false,
                List.of(new InstanceProfile("1g.18gb", 19, 1, 1, 16L << 30, 16, List.of(0, 1), 7)),
                Optional.of("9.0"),
                false);
    }

    private static GpuSample sample(double utilization) {
        return GpuSample.of(new GpuId("GPU-0/0:1"))
                .utilization(utilization)
                .throttleReasons(List.of("gpu-idle"))
                .lastXid(31)
                .lastXidAt(NOON)
                .build();
    }

    private static String node(String name, NodeStatus status) {
        return Codecs.encode(
                        TopicCatalogue.NODES,
                        new Node(
                                        new NodeId(name),
                                        EAST,
                                        Pool.INFERENCE,
                                        "boot",
                                        NOON,
                                        status,
                                        List.of(gpu()),
                                        Optional.of("550.1"))
                                .with(new NodeFacts(Map.of("rack", "r1"))))
                .toString();
    }

    private static String telemetry(String name, double utilization) {
        return Codecs.encode(
                        TopicCatalogue.GPU_TELEMETRY,
                        new GpuTelemetry(new NodeId(name), EAST, "boot", 1, NOON, List.of(sample(utilization))))
                .toString();
    }

    private Path file(String... lines) throws IOException {
        return Files.writeString(directory.resolve("recording.jsonl"), String.join("\n", lines) + "\n");
    }

    @Test
    void whatAnAgentPrintedIsPlayedInOrderToItsEnd() throws IOException {
        Path file = file(
                node("a", NodeStatus.READY),
                telemetry("a", 0.25),
                telemetry("a", 0.5),
                "",
                node("a", NodeStatus.PAUSED),
                node("a", NodeStatus.READY),
                telemetry("a", 0.75));
        try (GpuProbe probe = GpuProbes.recorded(file, false)) {
            GpuSnapshot first = probe.look(NOON);

            assertThat(first.status()).isEqualTo(NodeStatus.READY);
            assertThat(first.gpus()).containsExactly(gpu());
            assertThat(first.samples()).containsExactly(sample(0.25));
            assertThat(first.driverVersion()).contains("550.1");
            assertThat(probe.look(NOON).samples()).containsExactly(sample(0.5));
            assertThat(probe.look(NOON).why()).isEqualTo("recorded as PAUSED");
            assertThat(probe.look(NOON).samples()).containsExactly(sample(0.75));
            GpuSnapshot ended = probe.look(NOON);
            assertThat(ended.status()).isEqualTo(NodeStatus.UNAVAILABLE);
            assertThat(ended.why()).endsWith("recording.jsonl ended after 4 snapshots");
            assertThat(ended.gpus()).containsExactly(gpu());
        }
    }

    @Test
    void ratesOfRequestsAmongItAreNotSeenOnGpus() throws IOException {
        String rate = Codecs.encode(
                        TopicCatalogue.REQUEST_RATES,
                        new RequestRate(
                                new ServiceId("chat"),
                                EAST,
                                "a/localhost:8000",
                                "boot",
                                1,
                                NOON,
                                NOON.plusSeconds(5),
                                new RequestRate.Requests(40, 38, 2, 0),
                                new RequestRate.Latency(Optional.of(.25), Optional.empty()),
                                List.of(new SizeCount(200, 40)),
                                List.of()))
                .toString();
        Path file = file(node("a", NodeStatus.READY), telemetry("a", 0.25), rate, telemetry("a", 0.5));
        try (GpuProbe probe = GpuProbes.recorded(file, false)) {
            List<GpuSnapshot> sights = List.of(probe.look(NOON), probe.look(NOON), probe.look(NOON));

            assertThat(sights).flatExtracting(GpuSnapshot::samples).containsExactly(sample(0.25), sample(0.5));
        }
        Path wrong = file(node("a", NodeStatus.READY), rate.replace("\"arrivals\": 40", "\"arrivals\": \"many\""));
        assertThatThrownBy(() -> GpuProbes.recorded(wrong, false))
                .hasMessageContaining("line 2: RequestRate.arrivals must be a whole number, but is \"many\"");
    }

    @Test
    void aLoopBeginsAgain() throws IOException {
        Path file = file(node("a", NodeStatus.READY), telemetry("a", 0.25), telemetry("a", 0.5));
        try (GpuProbe probe = GpuProbes.recorded(file, true)) {
            List<GpuSnapshot> sights = List.of(probe.look(NOON), probe.look(NOON), probe.look(NOON));

            assertThat(sights)
                    .flatExtracting(GpuSnapshot::samples)
                    .containsExactly(sample(0.25), sample(0.5), sample(0.25));
        }
    }

    @Test
    void aPauseHoldsTheRecordingStill() throws IOException {
        Path file = file(node("a", NodeStatus.READY), telemetry("a", 0.25), telemetry("a", 0.5));
        try (GpuProbe probe = GpuProbes.recorded(file, false)) {
            probe.look(NOON);
            probe.pause("maintenance");
            GpuSnapshot paused = probe.look(NOON);
            probe.resume();

            assertThat(paused.status()).isEqualTo(NodeStatus.PAUSED);
            assertThat(paused.gpus()).containsExactly(gpu());
            assertThat(probe.look(NOON).samples()).containsExactly(sample(0.5));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{                                  | line 2: is not JSON",
                "{} {}                              | line 2: is not JSON",
                "[]                                 | line 2: is not a node's inventory",
                "{\"sequence\": 1}                  | line 2: GpuTelemetry.nodeId is missing",
                "{\"sequence\": 1, \"colour\": 2}   | line 2: GpuTelemetry has no field colour",
                "{\"status\": \"READY\", \"nodeId\": 7} | line 2: Node.nodeId must be a text, but is 7",
            })
    void aLineThatIsNoneIsRefusedWithItsNumber(String line, String why) throws IOException {
        Path file = file(node("a", NodeStatus.READY), line);

        assertThatThrownBy(() -> GpuProbes.recorded(file, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("recording.jsonl, " + why);
    }

    @Test
    void aRecordingIsOfOneNodeAndBeginsWithItsInventory() throws IOException {
        Path several = file(node("a", NodeStatus.READY), telemetry("b", 0.5));
        assertThatThrownBy(() -> GpuProbes.recorded(several, false))
                .hasMessageContaining("line 2: has node b, but earlier lines have a");

        Path headless = file(telemetry("a", 0.5));
        assertThatThrownBy(() -> GpuProbes.recorded(headless, false))
                .hasMessageContaining("line 1: is a sample, but no node's inventory comes before it");

        Path impossible = file(
                node("a", NodeStatus.READY), telemetry("a", 0.5).replace("\"utilization\": 0.5", "\"utilization\": 5"));
        assertThatThrownBy(() -> GpuProbes.recorded(impossible, false))
                .hasMessageContaining("line 2: ")
                .hasMessageContaining("utilization must lie between 0 and 1, but was 5.0");
    }

    @Test
    void aFileThatIsEmptyOrNotThereIsRefused() throws IOException {
        Path empty = file("");
        assertThatThrownBy(() -> GpuProbes.recorded(empty, true)).hasMessageContaining("is empty");
        assertThatThrownBy(() -> GpuProbes.recorded(directory.resolve("none"), true))
                .hasMessageContaining("cannot be read")
                .hasMessageContaining("lendstream agent --once --json --dry-run");
    }
}

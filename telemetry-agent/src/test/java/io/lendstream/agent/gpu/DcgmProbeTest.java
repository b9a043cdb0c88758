package io.lendstream.agent.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.lendstream.core.event.NodeStatus;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DcgmProbeTest {
    private static final Instant NOON = Instant.parse("2026-06-01T12:00:00Z");
    private static final String PAGE =
            "# TYPE DCGM_FI_DEV_GPU_TEMP gauge\nDCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-0\",modelName=\"NVIDIA H200\"} 41\n";

    private HttpServer server;
    private volatile String page = PAGE;
    private volatile int status = 200;
    private GpuProbe probe;

    @BeforeEach
    void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/metrics", exchange -> {
            byte[] body = page.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        URI metrics = URI.create(
                "http://127.0.0.1:%d/metrics".formatted(server.getAddress().getPort()));
        probe = GpuProbes.dcgm(metrics, Duration.ofSeconds(10));
    }

    @AfterEach
    void close() {
        probe.close();
        server.stop(0);
    }

    @Test
    void anExportersPageIsASight() {
        GpuSnapshot sight = probe.look(NOON);

        assertThat(sight.status()).isEqualTo(NodeStatus.READY);
        assertThat(sight.why()).isEmpty();
        assertThat(sight.gpus()).hasSize(1);
        assertThat(sight.samples())
                .singleElement()
                .satisfies(sample ->
                        assertThat(sample.temperature().temperatureCelsius()).contains(41.0));
    }

    @Test
    void aPageThatCannotBeReadLeavesTheInventoryAndSaysWhichLineIsWrong() {
        probe.look(NOON);
        page = PAGE + "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\" 41\n";

        GpuSnapshot sight = probe.look(NOON.plusSeconds(15));

        assertThat(sight.status()).isEqualTo(NodeStatus.UNAVAILABLE);
        assertThat(sight.why()).contains("/metrics: line 3: ", "retry after 1 s");
        assertThat(sight.gpus()).hasSize(1);
        assertThat(sight.samples()).isEmpty();
    }

    @Test
    void anExporterThatAnswersWithAnErrorOrWithoutGpusIsTriedAgain() {
        status = 503;
        assertThat(probe.look(NOON).why()).contains("HTTP status 503");
        status = 200;
        page = "# TYPE up gauge\nup 1\n";
        assertThat(probe.look(NOON.plusSeconds(15)).why()).contains("the page has no GPU");
        page = PAGE;

        assertThat(probe.look(NOON.plusSeconds(16)).status()).isEqualTo(NodeStatus.UNAVAILABLE);
        assertThat(probe.look(NOON.plusSeconds(17)).status()).isEqualTo(NodeStatus.READY);
    }

    @Test
    void anExporterThatIsNotThereIsUnavailable() {
        server.stop(0);

        GpuSnapshot sight = probe.look(NOON);

        assertThat(sight.status()).isEqualTo(NodeStatus.UNAVAILABLE);
        assertThat(sight.why()).contains("/metrics: ");
    }

    @Test
    void itPausesAndResumes() {
        probe.look(NOON);

        probe.pause("maintenance");
        GpuSnapshot paused = probe.look(NOON);
        probe.resume();

        assertThat(paused.status()).isEqualTo(NodeStatus.PAUSED);
        assertThat(paused.gpus()).hasSize(1);
        assertThat(probe.look(NOON).status()).isEqualTo(NodeStatus.READY);
    }
}

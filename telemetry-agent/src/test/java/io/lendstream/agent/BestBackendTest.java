package io.lendstream.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.lendstream.agent.gpu.GpuProbes;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsFile;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BestBackendTest {

    @ParameterizedTest
    @CsvSource({
        "agent.period=15s, true, true, NVML, ''",
        "agent.period=15s, false, true, DCGM, reading GPUs through the dcgm-exporter at",
        "agent.period=15s, false, false, NVML, no dcgm-exporter reports GPUs at",
        "agent.dcgm-url=http://localhost:9401/metrics, true, false, DCGM, ''",
        "agent.slurm=true, false, true, NVML, ''",
        "agent.backend=simulated, true, true, SIMULATED, ''"
    })
    void theBestThatIsThereIsTakenWhereNothingIsSaid(
            String said, boolean nvml, boolean exporter, Backend best, String remark) {
        Settings settings = Settings.of(AgentKeys.ALL, SettingsFile.NONE, Map.of(), List.of(said));

        var choice = new BestBackend(libraries -> nvml, url -> exporter).of(settings);

        assertThat(choice.backend()).isEqualTo(best);
        assertThat(choice.remark().orElse("")).contains(remark);
        assertThat(choice.remark().isEmpty()).isEqualTo(remark.isEmpty());
    }

    @Test
    void anExporterIsThereWhereItTellsOfGpus() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        var page = new String[] {"# nothing\n"};
        server.createContext("/metrics", exchange -> {
            byte[] text = page[0].getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, text.length);
            exchange.getResponseBody().write(text);
            exchange.close();
        });
        server.start();
        URI url = URI.create(
                "http://127.0.0.1:%d/metrics".formatted(server.getAddress().getPort()));
        Duration patience = Duration.ofSeconds(5);
        try {
            assertThat(GpuProbes.dcgmIsThere(url, patience)).isFalse();
            page[0] = "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-1\",modelName=\"NVIDIA A100\"} 41\n";
            assertThat(GpuProbes.dcgmIsThere(url, patience)).isTrue();
        } finally {
            server.stop(0);
        }
        assertThat(GpuProbes.dcgmIsThere(url, patience)).isFalse();
    }

    @Test
    void aLibraryThatCannotBeLoadedIsNotThere() {
        assertThat(GpuProbes.nvmlIsThere(List.of("/none/libnvidia-ml.so.1"))).isFalse();
    }
}

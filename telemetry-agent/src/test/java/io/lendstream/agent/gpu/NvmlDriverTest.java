package io.lendstream.agent.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.NodeStatus;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** NVIDIA's real driver, beside what nvidia-smi reports of it. Skipped on a machine without a GPU. */
class NvmlDriverTest {
    private static final double MIB = 1L << 20;
    private static final String QUERY =
            "uuid,index,name,pci.bus_id,memory.total,driver_version,compute_cap,memory.used,temperature.gpu,power.draw";

    @Test
    void reportsEachGpuAsNvidiaSmiDoes() throws Exception {
        List<String[]> rows = nvidiaSmi();
        assumeTrue(!rows.isEmpty(), "skipped: nvidia-smi reports no GPU");

        GpuSnapshot seen;
        try (GpuProbe probe = GpuProbes.nvml(List.of(), Duration.ofSeconds(20), true)) {
            probe.look(Instant.now());
            Thread.sleep(1000); // the driver computes activity between two samples
            seen = probe.look(Instant.now());
        }

        assertThat(seen.status()).as(seen.why()).isEqualTo(NodeStatus.READY);
        assertThat(seen.driverVersion()).contains(rows.get(0)[5]);
        assertThat(seen.gpus()).hasSameSizeAs(rows);
        for (int i = 0; i < rows.size(); i++) {
            String[] row = rows.get(i);
            Gpu gpu = seen.gpus().get(i);
            assertThat(gpu.gpuId().value()).isEqualTo(row[0]);
            assertThat(gpu.index()).isEqualTo(Integer.parseInt(row[1]));
            assertThat(gpu.model()).isEqualTo(row[2]);
            assertThat(gpu.pciBusId()).contains(row[3]);
            assertThat(gpu.memoryBytes() / MIB).isCloseTo(Double.parseDouble(row[4]), within(1.0));
            assertThat(gpu.computeCapability()).contains(row[6]);
            GpuSample sample = seen.samples().stream()
                    .filter(each -> each.gpuId().equals(gpu.gpuId()))
                    .findFirst()
                    .orElseThrow();
            assertThat(sample.memory().memoryUsedBytes().orElseThrow() / MIB)
                    .isCloseTo(Double.parseDouble(row[7]), within(1024.0));
            assertThat(sample.temperature().temperatureCelsius().orElseThrow())
                    .isCloseTo(Double.parseDouble(row[8]), within(10.0));
            assertThat(sample.power().powerWatts().orElseThrow()).isCloseTo(Double.parseDouble(row[9]), within(100.0));
        }
    }

    private static List<String[]> nvidiaSmi() throws InterruptedException {
        try {
            Process query = new ProcessBuilder("nvidia-smi", "--query-gpu=" + QUERY, "--format=csv,noheader,nounits")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String text = new String(query.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return query.waitFor() == 0
                    ? text.lines().map(line -> line.split(", ", -1)).toList()
                    : List.of();
        } catch (IOException e) {
            return List.of();
        }
    }
}

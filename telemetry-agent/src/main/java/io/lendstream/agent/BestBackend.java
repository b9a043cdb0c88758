package io.lendstream.agent;

import io.lendstream.agent.gpu.GpuProbes;
import io.lendstream.service.settings.Settings;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Where samples come from when nobody has said: NVIDIA's driver where its library can be loaded, else a dcgm-exporter where one answers.
 * Where there is neither, the agent goes on looking for the driver, which may still come.
 *
 * @param hasNvml whether NVML can be loaded from one of these
 * @param hasExporter whether a dcgm-exporter tells of GPUs there
 */
record BestBackend(Predicate<List<String>> hasNvml, Predicate<URI> hasExporter) {
    /** Where dcgm-exporter is unless it is told otherwise. */
    static final URI USUAL_EXPORTER = URI.create("http://localhost:9400/metrics");

    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /** Of this machine. */
    static final BestBackend HERE =
            new BestBackend(GpuProbes::nvmlIsThere, exporter -> GpuProbes.dcgmIsThere(exporter, PATIENCE));

    /**
     * A backend.
     *
     * @param remark what to say of it once the agent serves; empty where it was asked for, or is NVML that can be loaded
     */
    record Choice(Backend backend, Optional<String> remark) {
        private static Choice of(Backend backend) {
            return new Choice(backend, Optional.empty());
        }
    }

    /** The one that settings name, or the best that is there. */
    Choice of(Settings settings) {
        return settings.get(AgentKeys.BACKEND).map(Choice::of).orElseGet(() -> found(settings));
    }

    private Choice found(Settings settings) {
        if (!settings.get(AgentKeys.DCGM_URL).isBlank()) {
            return Choice.of(Backend.DCGM);
        }
        if (settings.get(AgentKeys.SLURM) || hasNvml.test(settings.get(AgentKeys.NVML_LIBRARIES))) {
            return Choice.of(Backend.NVML);
        }
        if (hasExporter.test(USUAL_EXPORTER)) {
            return new Choice(
                    Backend.DCGM,
                    Optional.of("NVML cannot be loaded; GPUs are looked at through the dcgm-exporter at %s."
                            .formatted(USUAL_EXPORTER)));
        }
        return new Choice(
                Backend.NVML,
                Optional.of(
                        "NVML cannot be loaded, and no dcgm-exporter tells of GPUs at %s. The agent goes on looking for NVML. Install NVIDIA's driver, give the container its libraries, name the exporter in agent.dcgm-url, or say --backend simulated."
                                .formatted(USUAL_EXPORTER)));
    }
}

package io.lendstream.agent;

import io.lendstream.agent.gpu.GpuProbes;
import io.lendstream.service.settings.Settings;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Chooses the source of samples if no setting does. That is NVIDIA's driver if its library can be loaded, otherwise a
 * dcgm-exporter if one answers. If neither is available, the agent keeps trying the driver, which may be installed
 * later.
 *
 * @param hasNvml whether NVML can be loaded from one of these paths
 * @param hasExporter whether a dcgm-exporter reports GPUs at this address
 */
record BestBackend(Predicate<List<String>> hasNvml, Predicate<URI> hasExporter) {
    /** The default address of dcgm-exporter. */
    static final URI USUAL_EXPORTER = URI.create("http://localhost:9400/metrics");

    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /** Of this machine. */
    static final BestBackend HERE =
            new BestBackend(GpuProbes::nvmlIsThere, exporter -> GpuProbes.dcgmIsThere(exporter, PATIENCE));

    /**
     * A backend.
     *
     * @param remark log message when the agent serves; empty if the backend was set, or is a loadable NVML
     */
    record Choice(Backend backend, Optional<String> remark) {
        private static Choice of(Backend backend) {
            return new Choice(backend, Optional.empty());
        }
    }

    /** The backend of the settings, or else the best available one. */
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
                    Optional.of("NVML cannot be loaded; reading GPUs through the dcgm-exporter at %s."
                            .formatted(USUAL_EXPORTER)));
        }
        return new Choice(
                Backend.NVML,
                Optional.of(
                        "NVML cannot be loaded, and no dcgm-exporter reports GPUs at %s. The agent keeps trying NVML. Install NVIDIA's driver, give the container its libraries, set agent.dcgm-url to the exporter's address, or use --backend simulated."
                                .formatted(USUAL_EXPORTER)));
    }
}

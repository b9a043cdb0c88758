package io.lendstream.agent.gpu.dcgm;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuSample;
import java.util.List;
import java.util.Optional;

/**
 * The result of one scrape.
 *
 * @param troubles problems, for operators; empty without any
 */
public record DcgmReadings(
        List<Gpu> gpus, List<GpuSample> samples, Optional<String> driverVersion, List<String> troubles) {
    public DcgmReadings {
        gpus = List.copyOf(gpus);
        samples = List.copyOf(samples);
        troubles = List.copyOf(troubles);
    }
}

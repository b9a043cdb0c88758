package io.lendstream.agent.gpu.nvml;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.id.GpuId;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The result of one read through NVML.
 *
 * @param gpus GPUs that answer; a lost GPU is not among them
 * @param samples of these, and of a GPU lost since NVML was initialised
 * @param untold GPUs whose processes the driver does not report
 * @param troubles problems, for operators; empty without any
 * @param settling whether a GPU is being repartitioned, and {@code gpus} has its previous layout
 */
public record Readings(
        List<Gpu> gpus,
        List<GpuSample> samples,
        List<RunningProcess> processes,
        Set<GpuId> untold,
        Optional<String> driverVersion,
        List<String> troubles,
        boolean settling) {
    public Readings {
        gpus = List.copyOf(gpus);
        samples = List.copyOf(samples);
        processes = List.copyOf(processes);
        untold = Set.copyOf(untold);
        troubles = List.copyOf(troubles);
    }
}

package io.lendstream.agent.gpu.nvml;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.id.GpuId;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What NVML told in one look.
 *
 * @param gpus that answer; one that is lost is not among them
 * @param samples of these, and of one that was lost since NVML was initialised
 * @param untold GPUs whose processes the driver does not tell
 * @param troubles for operators; none where all went well
 * @param settling whether a GPU is being cut anew, and {@code gpus} is still as it was before
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

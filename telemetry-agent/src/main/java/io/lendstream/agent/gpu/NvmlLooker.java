package io.lendstream.agent.gpu;

import io.lendstream.agent.gpu.nvml.NvmlException;
import io.lendstream.agent.gpu.nvml.NvmlMachine;
import io.lendstream.agent.gpu.nvml.Readings;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.GpuId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Reads GPUs through NVML. While it fails, the last known inventory is reported, and it is retried with backoff. */
final class NvmlLooker implements NodeReader {
    /** A new MIG layout is accepted after two seconds; until then the previous inventory is reported. */
    private static final Duration WHILE_SETTLING = Duration.ofSeconds(1);

    private final NvmlMachine machine;
    private final boolean withProcesses;
    private final Backoff backoff = new Backoff();
    private List<Gpu> lastSeen = List.of();
    private Optional<String> driverVersion = Optional.empty();
    private String failure = "";

    /** @param withProcesses whether to query the computing processes; otherwise they are unknown */
    NvmlLooker(NvmlMachine machine, boolean withProcesses) {
        this.machine = machine;
        this.withProcesses = withProcesses;
    }

    @Override
    public GpuSnapshot look(Instant now) {
        if (!backoff.isDue(now)) {
            return unavailable();
        }
        try {
            return seen(machine.look(now), now);
        } catch (NvmlException e) {
            failure = String.valueOf(e.getMessage());
            backoff.failed(now);
            return unavailable();
        }
    }

    private GpuSnapshot seen(Readings readings, Instant now) {
        String why = String.join("; ", readings.troubles());
        driverVersion = readings.driverVersion();
        if (readings.gpus().isEmpty()) {
            failure = why.isEmpty() ? "the driver reports no GPU" : why;
            backoff.failed(now);
            machine.letGo(); // only a new session sees a GPU that appears
            return new GpuSnapshot(NodeStatus.UNAVAILABLE, failure, lastSeen, readings.samples(), driverVersion);
        }
        backoff.succeeded();
        lastSeen = readings.gpus();
        List<GpuProcess> processes = readings.processes().stream()
                .map(each -> new GpuProcess(each.gpuId(), each.pid(), each.memoryUsedBytes()))
                .toList();
        return new GpuSnapshot(
                NodeStatus.READY,
                why,
                readings.gpus(),
                readings.samples(),
                processes,
                withProcesses ? readings.untold() : all(readings.gpus()),
                driverVersion,
                readings.settling() ? Optional.of(WHILE_SETTLING) : Optional.empty());
    }

    private static Set<GpuId> all(List<Gpu> gpus) {
        return gpus.stream().map(Gpu::gpuId).collect(Collectors.toSet());
    }

    private GpuSnapshot unavailable() {
        return GpuSnapshot.without(
                NodeStatus.UNAVAILABLE, GpuSnapshot.retried(failure, backoff.pause()), lastSeen, driverVersion);
    }

    @Override
    public void letGo() {
        machine.letGo();
    }
}

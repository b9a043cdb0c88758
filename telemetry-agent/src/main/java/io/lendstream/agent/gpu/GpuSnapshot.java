package io.lendstream.agent.gpu;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.GpuId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What was seen of a node's GPUs at one moment.
 *
 * @param why what is the matter, for operators; empty where nothing is. A node may be READY and something of it not
 * @param gpus its inventory; when there is none to be had, the one last seen
 * @param samples of GPUs, and of MIG instances after their GPU; none unless READY
 * @param untold GPUs of which it is not known which processes they have
 * @param driverVersion where the driver told
 * @param again when to look again, where that is sooner than usual: something is changing
 */
public record GpuSnapshot(
        NodeStatus status,
        String why,
        List<Gpu> gpus,
        List<GpuSample> samples,
        List<GpuProcess> processes,
        Set<GpuId> untold,
        Optional<String> driverVersion,
        Optional<Duration> again) {
    public GpuSnapshot {
        gpus = List.copyOf(gpus);
        samples = List.copyOf(samples);
        processes = List.copyOf(processes);
        untold = Set.copyOf(untold);
        if (status != NodeStatus.READY && why.isBlank()) {
            throw new IllegalArgumentException("a sight that is %s must say why, but does not".formatted(status));
        }
    }

    /** One that tells nothing of processes, and after which to look again as usual. */
    public GpuSnapshot(
            NodeStatus status, String why, List<Gpu> gpus, List<GpuSample> samples, Optional<String> driverVersion) {
        this(
                status,
                why,
                gpus,
                samples,
                List.of(),
                gpus.stream().map(Gpu::gpuId).collect(Collectors.toSet()),
                driverVersion,
                Optional.empty());
    }

    /** Nothing new to be seen. */
    public static GpuSnapshot without(
            NodeStatus status, String why, List<Gpu> lastSeen, Optional<String> driverVersion) {
        return new GpuSnapshot(status, why, lastSeen, List.of(), driverVersion);
    }

    /** Nothing new to be seen, and when to look again. */
    static GpuSnapshot without(
            NodeStatus status, String why, List<Gpu> lastSeen, Optional<String> driverVersion, Duration again) {
        GpuSnapshot usual = without(status, why, lastSeen, driverVersion);
        return new GpuSnapshot(
                status, why, lastSeen, List.of(), List.of(), usual.untold, driverVersion, Optional.of(again));
    }

    /** The same with these samples, and this said of it. */
    public GpuSnapshot with(List<GpuSample> others, String whyNow) {
        return new GpuSnapshot(status, whyNow, gpus, others, processes, untold, driverVersion, again);
    }
}

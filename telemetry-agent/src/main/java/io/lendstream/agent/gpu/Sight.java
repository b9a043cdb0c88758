package io.lendstream.agent.gpu;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.NodeStatus;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What was seen of a node's GPUs at one moment.
 *
 * @param why what is the matter, for operators; empty where nothing is. A node may be READY and something of it not
 * @param gpus its inventory; when there is none to be had, the one last seen
 * @param samples of GPUs, and of MIG instances after their GPU; none unless READY
 * @param driverVersion where the driver told
 * @param again when to look again, where that is sooner than usual: something is changing
 */
public record Sight(
        NodeStatus status,
        String why,
        List<Gpu> gpus,
        List<GpuSample> samples,
        List<GpuProcess> processes,
        Optional<String> driverVersion,
        Optional<Duration> again) {
    public Sight {
        gpus = List.copyOf(gpus);
        samples = List.copyOf(samples);
        processes = List.copyOf(processes);
        if (status != NodeStatus.READY && why.isBlank()) {
            throw new IllegalArgumentException("a sight that is %s must say why, but does not".formatted(status));
        }
    }

    /** One after which to look again as usual. */
    public Sight(
            NodeStatus status,
            String why,
            List<Gpu> gpus,
            List<GpuSample> samples,
            List<GpuProcess> processes,
            Optional<String> driverVersion) {
        this(status, why, gpus, samples, processes, driverVersion, Optional.empty());
    }

    /** Nothing new to be seen. */
    public static Sight without(NodeStatus status, String why, List<Gpu> lastSeen, Optional<String> driverVersion) {
        return new Sight(status, why, lastSeen, List.of(), List.of(), driverVersion);
    }
}

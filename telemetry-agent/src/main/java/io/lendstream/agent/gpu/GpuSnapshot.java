package io.lendstream.agent.gpu;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.GpuId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The state of a node's GPUs at one time.
 *
 * @param why the problem, for operators; empty without one. A READY node may have a partial problem
 * @param gpus the inventory, or the last known one if none can be read
 * @param samples samples of GPUs, with MIG instances after their GPU; empty unless READY
 * @param untold GPUs whose processes are unknown
 * @param driverVersion empty if the driver did not report it
 * @param again when to read again, if sooner than usual, because a change is in progress
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
    private static final Pattern NEXT_TRY = Pattern.compile(" \\(retry after \\d+ s\\)");

    public GpuSnapshot {
        gpus = List.copyOf(gpus);
        samples = List.copyOf(samples);
        processes = List.copyOf(processes);
        untold = Set.copyOf(untold);
        if (status != NodeStatus.READY && why.isBlank()) {
            throw new IllegalArgumentException(
                    "a snapshot with status %s must have a reason, but has none".formatted(status));
        }
    }

    /** A snapshot without processes, after which the usual period applies. */
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

    /** A snapshot without new samples. */
    public static GpuSnapshot without(
            NodeStatus status, String why, List<Gpu> lastSeen, Optional<String> driverVersion) {
        return new GpuSnapshot(status, why, lastSeen, List.of(), driverVersion);
    }

    /** A snapshot without new samples, with the time of the next read. */
    static GpuSnapshot without(
            NodeStatus status, String why, List<Gpu> lastSeen, Optional<String> driverVersion, Duration again) {
        GpuSnapshot usual = without(status, why, lastSeen, driverVersion);
        return new GpuSnapshot(
                status, why, lastSeen, List.of(), List.of(), usual.untold, driverVersion, Optional.of(again));
    }

    /** The problem without the time of the next try, for a reader that tries only once. */
    public String cause() {
        return NEXT_TRY.matcher(why).replaceAll("");
    }

    /** The problem with the time of the next try. */
    static String retried(String failure, Duration pause) {
        return "%s (retry after %d s)".formatted(failure, pause.toSeconds());
    }

    /** This snapshot with these samples and this problem. */
    public GpuSnapshot with(List<GpuSample> others, String whyNow) {
        return new GpuSnapshot(status, whyNow, gpus, others, processes, untold, driverVersion, again);
    }
}

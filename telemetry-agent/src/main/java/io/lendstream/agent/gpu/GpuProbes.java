package io.lendstream.agent.gpu;

import io.lendstream.agent.gpu.nvml.NvmlMachine;
import io.lendstream.core.event.NodeStatus;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Creates probes of the different backends. */
public final class GpuProbes {
    /** A healthy driver answers in milliseconds; during a MIG change it may take seconds. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** After a MIG change drivers report the old layout for one to two seconds. */
    private static final Duration SETTLE = Duration.ofSeconds(2);

    private GpuProbes() {}

    /** NVIDIA's driver on this machine, through its library NVML. */
    public static GpuProbe nvml() {
        return nvml(List.of(), PATIENCE, true);
    }

    /**
     * A probe through a library in another place.
     *
     * @param libraries directories, paths or names, tried in this order; empty for the usual ones
     * @param patience time limit of a read, or of releasing the driver
     * @param withProcesses whether snapshots contain the computing processes
     */
    public static GpuProbe nvml(List<String> libraries, Duration patience, boolean withProcesses) {
        var machine = new NvmlMachine(libraries, withProcesses);
        return new PatientProbe("gpu-nvml", new NvmlLooker(machine, withProcesses), patience, SETTLE);
    }

    /**
     * A dcgm-exporter of this node.
     *
     * @param metrics its page, such as {@code http://localhost:9400/metrics}
     * @param patience time limit of a read
     */
    public static GpuProbe dcgm(URI metrics, Duration patience) {
        return new PatientProbe("gpu-dcgm", new DcgmLooker(metrics, patience), patience, Duration.ZERO);
    }

    /**
     * A recording of another machine, in order: lines of {@code lendstream agent --once --json} for one node.
     *
     * @param loop whether to start again at its end; otherwise the probe is then UNAVAILABLE
     * @throws IllegalArgumentException if the file cannot be read or is not a recording; names the line
     */
    public static GpuProbe recorded(Path file, boolean loop) {
        return new RecordedProbe(file, Recording.read(file), loop);
    }

    /**
     * Whether NVML can be loaded on this machine; whether a driver answers and has GPUs is not checked.
     *
     * @param libraries as for {@link #nvml(List, Duration, boolean)}
     */
    public static boolean nvmlIsThere(List<String> libraries) {
        return NvmlMachine.isThere(libraries);
    }

    /** Whether a dcgm-exporter reports GPUs at this address. */
    public static boolean dcgmIsThere(URI metrics, Duration patience) {
        return new DcgmLooker(metrics, patience).look(Instant.now()).status() == NodeStatus.READY;
    }
}

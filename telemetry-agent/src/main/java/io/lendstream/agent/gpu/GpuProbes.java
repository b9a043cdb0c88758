package io.lendstream.agent.gpu;

import io.lendstream.agent.gpu.nvml.NvmlMachine;
import io.lendstream.core.event.NodeStatus;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Makes probes by name. */
public final class GpuProbes {
    /** A healthy driver answers in milliseconds; one that is busy with a MIG change may take seconds. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** After a MIG change drivers tell of the old layout for one to two seconds. */
    private static final Duration SETTLE = Duration.ofSeconds(2);

    private GpuProbes() {}

    /** NVIDIA's driver on this machine, through its library NVML. */
    public static GpuProbe nvml() {
        return nvml(List.of(), PATIENCE, true);
    }

    /**
     * The same through a library that lies elsewhere.
     *
     * @param libraries directories, paths or names, tried in this order; none for the usual ones
     * @param patience how long a look, or letting go, waits at most
     * @param withProcesses whether sights tell which processes compute
     */
    public static GpuProbe nvml(List<String> libraries, Duration patience, boolean withProcesses) {
        var machine = new NvmlMachine(libraries, withProcesses);
        return new PatientProbe("gpu-nvml", new NvmlLooker(machine, withProcesses), patience, SETTLE);
    }

    /**
     * A dcgm-exporter of this node.
     *
     * @param metrics its page, such as {@code http://localhost:9400/metrics}
     * @param patience how long a look waits at most
     */
    public static GpuProbe dcgm(URI metrics, Duration patience) {
        return new PatientProbe("gpu-dcgm", new DcgmLooker(metrics, patience), patience, Duration.ZERO);
    }

    /**
     * What was recorded elsewhere, in order: lines as {@code lendstream agent --once --json} prints them, of one node.
     *
     * @param loop whether it begins again at its end; otherwise the probe is then UNAVAILABLE
     * @throws IllegalArgumentException where the file cannot be read or is not a recording, naming the line
     */
    public static GpuProbe recorded(Path file, boolean loop) {
        return new RecordedProbe(file, Recording.read(file), loop);
    }

    /**
     * Whether NVML can be loaded on this machine; that a driver answers, and has GPUs, is not asked.
     *
     * @param libraries as for {@link #nvml(List, Duration, boolean)}
     */
    public static boolean nvmlIsThere(List<String> libraries) {
        return NvmlMachine.isThere(libraries);
    }

    /** Whether a dcgm-exporter tells of GPUs there. */
    public static boolean dcgmIsThere(URI metrics, Duration patience) {
        return new DcgmLooker(metrics, patience).look(Instant.now()).status() == NodeStatus.READY;
    }
}

package io.lendstream.agent.gpu;

import io.lendstream.core.event.NodeStatus;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Makes probes by name. */
public final class GpuProbes {
    private GpuProbes() {}

    /** NVIDIA's driver on this machine, through its library NVML. */
    public static GpuProbe nvml() {
        return new Absent("NVML is not wired yet");
    }

    /**
     * The same through a library that lies elsewhere.
     *
     * @param libraries directories, paths or names, tried in this order
     */
    public static GpuProbe nvml(List<String> libraries, Duration patience) {
        return new Absent("NVML is not wired yet: " + libraries + patience);
    }

    /** A dcgm-exporter of this node, such as {@code http://localhost:9400/metrics}. */
    public static GpuProbe dcgm(URI metrics, Duration patience) {
        return new Absent("DCGM is not wired yet: " + metrics + patience);
    }

    /**
     * What was recorded elsewhere, in order.
     *
     * @param loop whether it begins again at its end; otherwise the probe is then UNAVAILABLE
     * @throws IllegalArgumentException where the file cannot be read or is not a recording, naming the line
     */
    public static GpuProbe recorded(Path file, boolean loop) {
        return new Absent("recordings are not wired yet: " + file + loop);
    }

    /** Whether NVML is on this machine; that a driver answers, and has GPUs, is not asked. */
    public static boolean nvmlIsThere() {
        return false;
    }

    private record Absent(String why) implements GpuProbe {
        @Override
        public Sight look(Instant now) {
            return Sight.without(NodeStatus.UNAVAILABLE, why, List.of(), Optional.empty());
        }

        @Override
        public void pause(String reason) {}

        @Override
        public void resume() {}

        @Override
        public void close() {}
    }
}

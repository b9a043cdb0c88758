package io.lendstream.agent;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Inventory and samples for people: a line a GPU. */
final class Table {
    private static final String LINE = "%-10s %-9s %-3s %-40s %-24s %6s %9s %8s %6s";
    private static final long MIB = 1L << 20;

    private Table() {}

    static List<String> of(List<Node> inventory, List<GpuTelemetry> samples) {
        Map<String, GpuSample> byGpu = new HashMap<>();
        samples.forEach(
                node -> node.gpus().forEach(sample -> byGpu.put(sample.gpuId().value(), sample)));
        var lines = new ArrayList<String>();
        lines.add(LINE.formatted("NODE", "POOL", "GPU", "UUID", "MODEL", "UTIL", "MEMORY", "POWER", "TEMP"));
        for (Node node : inventory) {
            for (Gpu gpu : node.gpus()) {
                Optional<GpuSample> sample =
                        Optional.ofNullable(byGpu.get(gpu.gpuId().value()));
                lines.add(LINE.formatted(
                                node.nodeId(),
                                node.pool().name().toLowerCase(Locale.ROOT),
                                gpu.index(),
                                gpu.gpuId(),
                                gpu.model(),
                                shown(sample.flatMap(GpuSample::utilization).map(share -> 100 * share), "%"),
                                shown(
                                        sample.flatMap(GpuSample::memoryUsedBytes)
                                                .map(bytes -> (double) bytes / MIB),
                                        "MiB"),
                                shown(sample.flatMap(GpuSample::powerWatts), "W"),
                                shown(sample.flatMap(GpuSample::temperatureCelsius), "C"))
                        .stripTrailing());
            }
        }
        return lines;
    }

    /** What a device does not say is shown as such, and not as nothing. */
    private static String shown(Optional<Double> value, String unit) {
        return value.map(number -> "%.0f%s".formatted(number, unit)).orElse("unknown");
    }
}

package io.lendstream.agent;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.RequestRate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Inventory, samples and rates for people: one line for each GPU and each service. */
final class Table {
    private static final String LINE = "%-10s %-9s %-3s %-40s %-24s %6s %9s %8s %6s  %s";
    private static final String RATE = "%-24s %-32s %10s %10s %7s %7s %9s %9s";
    private static final long MIB = 1L << 20;

    private Table() {}

    static List<String> of(List<Node> inventory, List<GpuTelemetry> samples) {
        Map<String, GpuSample> byGpu = new HashMap<>();
        samples.forEach(
                node -> node.gpus().forEach(sample -> byGpu.put(sample.gpuId().value(), sample)));
        var lines = new ArrayList<String>();
        lines.add(LINE.formatted("NODE", "POOL", "GPU", "UUID", "MODEL", "UTIL", "MEMORY", "POWER", "TEMP", "USED BY")
                .stripTrailing());
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
                                shown(
                                        sample.flatMap(of -> of.activity().utilization())
                                                .map(share -> 100 * share),
                                        "%"),
                                shown(
                                        sample.flatMap(of -> of.memory().memoryUsedBytes())
                                                .map(bytes -> (double) bytes / MIB),
                                        "MiB"),
                                shown(sample.flatMap(of -> of.power().powerWatts()), "W"),
                                shown(sample.flatMap(of -> of.temperature().temperatureCelsius()), "C"),
                                sample.flatMap(GpuSample::usedBy)
                                        .map(users -> users.isEmpty() ? "none" : String.join(" ", users))
                                        .orElse(""))
                        .stripTrailing());
            }
        }
        return lines;
    }

    /** One line for each service and source; empty without any. */
    static List<String> ofRates(List<RequestRate> rates) {
        var lines = new ArrayList<String>();
        if (!rates.isEmpty()) {
            lines.add(RATE.formatted("SERVICE", "SOURCE", "OFFERED", "ANSWERED", "INSIDE", "WAITING", "P50", "P99"));
        }
        for (RequestRate rate : rates) {
            double seconds = rate.window().toMillis() / 1000.0;
            lines.add(RATE.formatted(
                            rate.service(),
                            rate.source(),
                            "%.1f/s".formatted(rate.arrivalsPerSecond()),
                            "%.1f/s".formatted(rate.requests().completions() / seconds),
                            rate.requests().inFlight(),
                            rate.requests().queueDepth(),
                            shown(rate.latency().p50LatencySeconds().map(latency -> 1000 * latency), "ms"),
                            shown(rate.latency().p99LatencySeconds().map(latency -> 1000 * latency), "ms"))
                    .stripTrailing());
        }
        return lines;
    }

    /** An unreported value is shown as such, and not as an empty cell. */
    private static String shown(Optional<Double> value, String unit) {
        return value.map(number -> "%.0f%s".formatted(number, unit)).orElse("unknown");
    }
}

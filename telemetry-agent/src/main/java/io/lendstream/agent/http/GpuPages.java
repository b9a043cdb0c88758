package io.lendstream.agent.http;

import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The GPU state under other systems' metric names: dcgm-exporter's, so that its dashboards work, and OpenTelemetry's.
 *
 * @see <a href="https://github.com/NVIDIA/dcgm-exporter/blob/main/etc/default-counters.csv">dcgm-exporter's
 *     counters</a>
 * @see <a href="https://opentelemetry.io/docs/specs/semconv/hardware/gpu/">OpenTelemetry's hardware metrics</a>
 */
public final class GpuPages {
    private GpuPages() {}

    /**
     * With dcgm-exporter's names and units: percent, MiB, MHz, mJ. Sampled link values are left out: dcgm-exporter
     * has counters.
     */
    public static String dcgm(NodeId node, GpuSnapshot sight) {
        var page = new Page();
        for (Gpu gpu : sight.samples().isEmpty() ? List.<Gpu>of() : sight.gpus()) {
            page.add(
                    "DCGM_FI_DEV_MIG_MODE",
                    "gauge",
                    "MIG mode: 1 if enabled.",
                    dcgmLabels(node, gpu, Optional.empty()),
                    Optional.of(gpu.migEnabled() ? 1 : 0));
        }
        each(sight, (gpu, instance, sample) -> {
            Map<String, String> labels = dcgmLabels(node, gpu, instance);
            labels.putAll(userLabels(sample));
            for (DcgmMetric metric : DcgmMetric.ALL) {
                page.add(metric.name(), metric.type(), metric.help(), labels, metric.in(sample, instance.isPresent()));
            }
        });
        return page.toString();
    }

    /** With OpenTelemetry's names in Prometheus' form: base units, {@code _ratio}, {@code _bytes}, {@code _total}. */
    public static String hardware(NodeId node, GpuSnapshot sight) {
        var page = new Page();
        each(sight, (gpu, instance, sample) -> {
            Map<String, String> labels = hardwareLabels(node, gpu, instance);
            Adder gauge = (name, help, value) -> page.add(name, "gauge", help, labels, value);
            addLoad(gauge, sample);
            gauge.add("hw_power_watts", "Power draw.", sample.power().powerWatts());
            page.add(
                    "hw_energy_joules_total",
                    "counter",
                    "Energy consumed.",
                    labels,
                    sample.power().energyJoules());
            gauge.add(
                    "hw_temperature_celsius",
                    "Temperature.",
                    sample.temperature().temperatureCelsius());
            page.add(
                    "hw_errors_total",
                    "counter",
                    "Memory errors.",
                    and(labels, "error_type", "corrected"),
                    sample.errors().eccCorrected());
            page.add(
                    "hw_errors_total",
                    "counter",
                    "Memory errors.",
                    and(labels, "error_type", "uncorrected"),
                    sample.errors().eccUncorrected());
        });
        addStatus(page, node, sight);
        return page.toString();
    }

    private static void addLoad(Adder gauge, GpuSample sample) {
        gauge.add(
                "hw_gpu_utilization_ratio",
                "Fraction of time in which the GPU was busy.",
                sample.activity().utilization().or(() -> sample.activity().smActivity()));
        gauge.add(
                "hw_gpu_memory_usage_bytes", "Used GPU memory.", sample.memory().memoryUsedBytes());
        gauge.add(
                "hw_gpu_memory_limit_bytes",
                "Total GPU memory.",
                sample.memory().memoryTotalBytes());
        gauge.add(
                "hw_gpu_memory_utilization_ratio",
                "Fraction of GPU memory in use.",
                sample.memory()
                        .memoryTotalBytes()
                        .filter(total -> total > 0)
                        .flatMap(total -> sample.memory().memoryUsedBytes().map(used -> (double) used / total)));
    }

    private static void addStatus(Page page, NodeId node, GpuSnapshot sight) {
        String state =
                sight.status() == NodeStatus.READY ? "ok" : sight.status() == NodeStatus.PAUSED ? "degraded" : "failed";
        for (Gpu gpu : sight.gpus()) {
            page.add(
                    "hw_status",
                    "gauge",
                    "1 for the current state of the GPU.",
                    and(hardwareLabels(node, gpu, Optional.empty()), "hw_state", state),
                    Optional.of(1));
        }
    }

    private interface Adder {
        void add(String name, String help, Optional<? extends Number> value);
    }

    private interface Taker {
        void take(Gpu gpu, Optional<GpuInstance> instance, GpuSample sample);
    }

    private static void each(GpuSnapshot sight, Taker taker) {
        var gpus = new LinkedHashMap<GpuId, Gpu>();
        var instances = new LinkedHashMap<GpuId, GpuInstance>();
        var parents = new LinkedHashMap<GpuId, Gpu>();
        for (Gpu gpu : sight.gpus()) {
            gpus.put(gpu.gpuId(), gpu);
            gpu.instances().forEach(instance -> {
                instances.put(instance.gpuId(), instance);
                parents.put(instance.gpuId(), gpu);
            });
        }
        Function<GpuId, Optional<Gpu>> owner =
                id -> Optional.ofNullable(gpus.get(id)).or(() -> Optional.ofNullable(parents.get(id)));
        for (GpuSample sample : sight.samples()) {
            owner.apply(sample.gpuId())
                    .ifPresent(gpu -> taker.take(gpu, Optional.ofNullable(instances.get(sample.gpuId())), sample));
        }
    }

    private static Map<String, String> dcgmLabels(NodeId node, Gpu gpu, Optional<GpuInstance> instance) {
        var labels = new LinkedHashMap<String, String>();
        labels.put("gpu", String.valueOf(gpu.index()));
        labels.put("UUID", gpu.gpuId().value());
        gpu.pciBusId().ifPresent(bus -> labels.put("pci_bus_id", bus));
        labels.put("device", "nvidia" + gpu.index());
        labels.put("modelName", gpu.model());
        labels.put("hostname", node.value());
        instance.ifPresent(slice -> {
            labels.put("GPU_I_PROFILE", slice.profile());
            slice.gpuInstanceId().ifPresent(id -> labels.put("GPU_I_ID", String.valueOf(id)));
        });
        return labels;
    }

    /** The user, if there is only one: dcgm-exporter has a label for one pod, and one for a job. */
    private static Map<String, String> userLabels(GpuSample sample) {
        List<String> users = sample.usedBy().orElse(List.of());
        String[] words = users.size() == 1 ? users.get(0).split("/", -1) : new String[0];
        if (words.length == 4 && words[0].equals("kubernetes")) {
            return new TreeMap<>(Map.of("namespace", words[1], "pod", words[2], "container", words[3]));
        }
        return words.length == 2 && words[0].equals("slurm") ? Map.of("hpc_job", words[1]) : Map.of();
    }

    private static Map<String, String> hardwareLabels(NodeId node, Gpu gpu, Optional<GpuInstance> instance) {
        var labels = new LinkedHashMap<String, String>();
        labels.put(
                "hw_id",
                instance.map(slice -> slice.uuid().orElse(slice.gpuId().value()))
                        .orElse(gpu.gpuId().value()));
        labels.put("hw_type", "gpu");
        labels.put("hw_vendor", "NVIDIA");
        labels.put("hw_model", gpu.model());
        instance.ifPresent(slice -> labels.put("hw_parent", gpu.gpuId().value()));
        labels.put("host_name", node.value());
        return labels;
    }

    private static Map<String, String> and(Map<String, String> labels, String name, String value) {
        var more = new LinkedHashMap<>(labels);
        more.put(name, value);
        return more;
    }
}

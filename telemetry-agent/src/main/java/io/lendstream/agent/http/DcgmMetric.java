package io.lendstream.agent.http;

import io.lendstream.core.event.GpuSample;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A metric of a GPU or an instance, with dcgm-exporter's name and unit.
 *
 * @param type gauge or counter
 */
record DcgmMetric(
        String name, Subject subject, String type, String help, Function<GpuSample, Optional<? extends Number>> value) {
    /** All metrics in the order of the page. */
    static final List<DcgmMetric> ALL = List.of(
            gauge(
                    "DCGM_FI_DEV_SM_CLOCK",
                    "SM clock frequency (in MHz).",
                    sample -> megahertz(sample.clocks().smClockHertz())),
            gauge(
                    "DCGM_FI_DEV_MEM_CLOCK",
                    "Memory clock frequency (in MHz).",
                    sample -> megahertz(sample.clocks().memoryClockHertz())),
            gauge(
                    "DCGM_FI_DEV_MEMORY_TEMP",
                    "Memory temperature (in C).",
                    sample -> sample.temperature().memoryTemperatureCelsius()),
            gauge(
                    "DCGM_FI_DEV_GPU_TEMP",
                    "GPU temperature (in C).",
                    sample -> sample.temperature().temperatureCelsius()),
            gauge(
                    "DCGM_FI_DEV_POWER_USAGE",
                    "Power draw (in W).",
                    sample -> sample.power().powerWatts()),
            new DcgmMetric(
                    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
                    Subject.ANY,
                    "counter",
                    "Total energy consumption since boot (in mJ).",
                    sample -> sample.power().energyJoules().map(joules -> joules * 1e3)),
            // An instance's utilisation is its graphics engine activity: NVML's counter exists only for the whole
            // GPU.
            new DcgmMetric(
                    "DCGM_FI_DEV_GPU_UTIL",
                    Subject.WHOLE_GPU,
                    "gauge",
                    "GPU utilization (in %).",
                    sample -> percent(sample.activity().utilization())),
            gauge(
                    "DCGM_FI_DEV_MEM_COPY_UTIL",
                    "Memory utilization (in %).",
                    sample -> percent(sample.activity().memoryUtilization())),
            gauge(
                    "DCGM_FI_DEV_XID_ERRORS",
                    "Value of the last XID error encountered.",
                    sample -> sample.errors().lastXid()),
            gauge(
                    "DCGM_FI_DEV_FB_FREE",
                    "Framebuffer memory free (in MiB).",
                    sample -> sample.memory()
                            .memoryTotalBytes()
                            .flatMap(total -> sample.memory()
                                    .memoryUsedBytes()
                                    .map(used -> mebibytes(Math.max(0, total - used))))),
            gauge(
                    "DCGM_FI_DEV_FB_USED",
                    "Framebuffer memory used (in MiB).",
                    sample -> sample.memory().memoryUsedBytes().map(DcgmMetric::mebibytes)),
            new DcgmMetric(
                    "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
                    Subject.INSTANCE,
                    "gauge",
                    "Ratio of time the graphics engine is active.",
                    sample -> sample.activity().utilization()),
            gauge(
                    "DCGM_FI_PROF_SM_ACTIVE",
                    "The ratio of cycles an SM has at least 1 warp assigned.",
                    sample -> sample.activity().smActivity()),
            gauge(
                    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
                    "Ratio of cycles the tensor (HMMA) pipe is active.",
                    sample -> sample.activity().tensorActivity()),
            gauge(
                    "DCGM_FI_PROF_DRAM_ACTIVE",
                    "Ratio of cycles the device memory interface is active sending or receiving data.",
                    sample -> sample.activity().dramActivity()));

    /** The devices that have a metric. */
    enum Subject {
        ANY,
        WHOLE_GPU,
        INSTANCE
    }

    private static DcgmMetric gauge(String name, String help, Function<GpuSample, Optional<? extends Number>> value) {
        return new DcgmMetric(name, Subject.ANY, "gauge", help, value);
    }

    /** The value in a sample; empty if it is unknown, or if this device does not have the metric. */
    Optional<? extends Number> in(GpuSample sample, boolean isInstance) {
        Subject other = isInstance ? Subject.WHOLE_GPU : Subject.INSTANCE;
        return subject == other ? Optional.empty() : value.apply(sample);
    }

    private static Optional<Double> percent(Optional<Double> share) {
        return share.map(part -> part * 100);
    }

    private static Optional<Double> megahertz(Optional<Long> hertz) {
        return hertz.map(clock -> clock / 1e6);
    }

    private static double mebibytes(long bytes) {
        return bytes / (double) (1L << 20);
    }
}

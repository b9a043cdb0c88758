package io.lendstream.core.event;

import io.lendstream.core.cluster.GpuId;
import java.util.Optional;

/**
 * One GPU, or one MIG instance, at one moment. What the device does not support is absent, never zero.
 *
 * @param utilization share of time in which a kernel ran; a fraction
 * @param smActivity share of streaming multiprocessors at work; a fraction, valid under MIG where the device has GPM
 * @param dramActivity share of time in which memory was busy; a fraction
 * @param lastXid the last XID error that the driver reported, if any
 */
public record GpuSample(
        GpuId gpuId,
        Quality utilizationQuality,
        Optional<Double> utilization,
        Optional<Double> smActivity,
        Optional<Double> dramActivity,
        Optional<Long> memoryUsedBytes,
        Optional<Long> memoryTotalBytes,
        Optional<Double> powerWatts,
        Optional<Double> temperatureCelsius,
        Optional<Integer> lastXid) {
    public GpuSample {
        Checks.fraction("utilization", utilization);
        Checks.fraction("smActivity", smActivity);
        Checks.fraction("dramActivity", dramActivity);
        Checks.notNegative("memoryUsedBytes", memoryUsedBytes);
        Checks.notNegative("memoryTotalBytes", memoryTotalBytes);
        Checks.notNegative("powerWatts", powerWatts);
        temperatureCelsius.ifPresent(celsius -> {
            if (!Double.isFinite(celsius)) {
                throw new IllegalArgumentException("temperatureCelsius must be finite, but was " + celsius);
            }
        });
    }
}

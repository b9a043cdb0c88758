package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.GpuId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One GPU, or one MIG instance, at one moment. What the device does not support is absent, never zero.
 *
 * @param utilization share of time in which a kernel ran; a fraction
 * @param smActivity share of streaming multiprocessors at work; a fraction, valid under MIG where the device has GPM
 * @param dramActivity share of the memory's bandwidth that was used; a fraction
 * @param lastXid the last XID error that the driver reported, if any
 * @param memoryUtilization share of time in which memory was read or written; a fraction
 * @param tensorActivity share of time in which tensor cores were at work; a fraction
 * @param energyJoules drawn since the driver was loaded
 * @param throttleReasons why clocks are lower than they could be, in NVML's words, such as {@code sw-power-cap}
 * @param eccCorrected memory errors that were corrected since the driver was loaded
 * @param eccUncorrected memory errors that could not be
 * @param xidsInFiveMinutes XID errors of the last five minutes; absent where nobody listens for them
 * @param lastXidAt when the last XID error was heard of, where it was heard
 * @param usedBy who has it, in order: {@code kubernetes/NAMESPACE/POD/CONTAINER}, {@code slurm/JOB}; empty where nobody has, absent where
 *     that is not known
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
        Optional<Integer> lastXid,
        Optional<Double> memoryUtilization,
        Optional<Double> tensorActivity,
        Optional<Double> energyJoules,
        Optional<Long> smClockHertz,
        Optional<Long> memoryClockHertz,
        List<String> throttleReasons,
        Optional<Long> eccCorrected,
        Optional<Long> eccUncorrected,
        Optional<Double> pcieTxBytesPerSecond,
        Optional<Double> pcieRxBytesPerSecond,
        Optional<Double> nvlinkTxBytesPerSecond,
        Optional<Double> nvlinkRxBytesPerSecond,
        Optional<Double> memoryTemperatureCelsius,
        Optional<Integer> xidsInFiveMinutes,
        Optional<Instant> lastXidAt,
        Optional<List<String>> usedBy) {
    public GpuSample {
        Checks.fraction("utilization", utilization);
        Checks.fraction("smActivity", smActivity);
        Checks.fraction("dramActivity", dramActivity);
        Checks.fraction("memoryUtilization", memoryUtilization);
        Checks.fraction("tensorActivity", tensorActivity);
        Checks.notNegative("memoryUsedBytes", memoryUsedBytes);
        Checks.notNegative("memoryTotalBytes", memoryTotalBytes);
        Checks.notNegative("powerWatts", powerWatts);
        Checks.notNegative("energyJoules", energyJoules);
        Checks.notNegative("smClockHertz", smClockHertz);
        Checks.notNegative("memoryClockHertz", memoryClockHertz);
        Checks.notNegative("eccCorrected", eccCorrected);
        Checks.notNegative("eccUncorrected", eccUncorrected);
        Checks.notNegative("pcieTxBytesPerSecond", pcieTxBytesPerSecond);
        Checks.notNegative("pcieRxBytesPerSecond", pcieRxBytesPerSecond);
        Checks.notNegative("nvlinkTxBytesPerSecond", nvlinkTxBytesPerSecond);
        Checks.notNegative("nvlinkRxBytesPerSecond", nvlinkRxBytesPerSecond);
        Checks.notNegative("xidsInFiveMinutes", xidsInFiveMinutes);
        Checks.finite("temperatureCelsius", temperatureCelsius);
        Checks.finite("memoryTemperatureCelsius", memoryTemperatureCelsius);
        throttleReasons = List.copyOf(throttleReasons);
        usedBy = usedBy.map(List::copyOf);
    }

    /** One of which only the most usual is known. */
    public GpuSample(
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
        this(
                gpuId,
                utilizationQuality,
                utilization,
                smActivity,
                dramActivity,
                memoryUsedBytes,
                memoryTotalBytes,
                powerWatts,
                temperatureCelsius,
                lastXid,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                List.of(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** The same, used by these. */
    public GpuSample withUsers(List<String> users) {
        return new GpuSample(
                gpuId,
                utilizationQuality,
                utilization,
                smActivity,
                dramActivity,
                memoryUsedBytes,
                memoryTotalBytes,
                powerWatts,
                temperatureCelsius,
                lastXid,
                memoryUtilization,
                tensorActivity,
                energyJoules,
                smClockHertz,
                memoryClockHertz,
                throttleReasons,
                eccCorrected,
                eccUncorrected,
                pcieTxBytesPerSecond,
                pcieRxBytesPerSecond,
                nvlinkTxBytesPerSecond,
                nvlinkRxBytesPerSecond,
                memoryTemperatureCelsius,
                xidsInFiveMinutes,
                lastXidAt,
                Optional.of(users));
    }

    /** Collects what a device tells, piece by piece. */
    public static GpuSampleBuilder of(GpuId gpuId) {
        return new GpuSampleBuilder(gpuId);
    }
}

package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.persistent.Flat;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One GPU, or one MIG instance, at one moment, in groups as NVML and DCGM have them. What the device does not support
 * is absent, never zero.
 *
 * @param usedBy its users, in order: {@code kubernetes/NAMESPACE/POD/CONTAINER}, {@code slurm/JOB}, {@code
 *     lendstream/DOMAIN/job/NAME}, {@code lendstream/DOMAIN/service/NAME}, {@code process/PID-START}; empty if it is
 *     unused, absent if that is not known
 */
public record GpuSample(
        GpuId gpuId,
        @Flat Activity activity,
        @Flat Memory memory,
        @Flat Power power,
        @Flat Temperature temperature,
        @Flat Clocks clocks,
        @Flat Links links,
        @Flat Errors errors,
        Optional<List<String>> usedBy) {
    public GpuSample {
        usedBy = usedBy.map(List::copyOf);
    }

    /**
     * The utilisation of its engines.
     *
     * @param utilizationQuality how far {@code utilization} may be trusted
     * @param utilization share of time in which a kernel ran; a fraction
     * @param smActivity share of streaming multiprocessors at work; a fraction, valid under MIG where the device has
     *     GPM
     * @param dramActivity share of the memory's bandwidth that was used; a fraction
     * @param memoryUtilization share of time in which memory was read or written; a fraction
     * @param tensorActivity share of time in which tensor cores were at work; a fraction
     */
    public record Activity(
            Quality utilizationQuality,
            Optional<Double> utilization,
            Optional<Double> smActivity,
            Optional<Double> dramActivity,
            Optional<Double> memoryUtilization,
            Optional<Double> tensorActivity) {
        public Activity {
            Checks.fraction("utilization", utilization);
            Checks.fraction("smActivity", smActivity);
            Checks.fraction("dramActivity", dramActivity);
            Checks.fraction("memoryUtilization", memoryUtilization);
            Checks.fraction("tensorActivity", tensorActivity);
        }
    }

    /** Its memory (DCGM's framebuffer): the memory in use and the total. */
    public record Memory(Optional<Long> memoryUsedBytes, Optional<Long> memoryTotalBytes) {
        public Memory {
            Checks.notNegative("memoryUsedBytes", memoryUsedBytes);
            Checks.notNegative("memoryTotalBytes", memoryTotalBytes);
        }
    }

    /**
     * Its power draw.
     *
     * @param powerWatts drawn now
     * @param energyJoules drawn since the driver was loaded
     */
    public record Power(Optional<Double> powerWatts, Optional<Double> energyJoules) {
        public Power {
            Checks.notNegative("powerWatts", powerWatts);
            Checks.notNegative("energyJoules", energyJoules);
        }
    }

    /** The temperatures of the GPU and its memory. */
    public record Temperature(Optional<Double> temperatureCelsius, Optional<Double> memoryTemperatureCelsius) {
        public Temperature {
            Checks.finite("temperatureCelsius", temperatureCelsius);
            Checks.finite("memoryTemperatureCelsius", memoryTemperatureCelsius);
        }
    }

    /**
     * Its clock rates.
     *
     * @param smClockHertz of the streaming multiprocessors
     * @param memoryClockHertz of the memory
     * @param throttleReasons why clocks are lower than they could be, by NVML's names, such as {@code sw-power-cap};
     *     empty where they are not, or that is not known
     */
    public record Clocks(Optional<Long> smClockHertz, Optional<Long> memoryClockHertz, List<String> throttleReasons) {
        public Clocks {
            Checks.notNegative("smClockHertz", smClockHertz);
            Checks.notNegative("memoryClockHertz", memoryClockHertz);
            throttleReasons = List.copyOf(throttleReasons);
        }
    }

    /** Its traffic, sent (tx) and received (rx), over PCIe and over all its NVLinks together. */
    public record Links(
            Optional<Double> pcieTxBytesPerSecond,
            Optional<Double> pcieRxBytesPerSecond,
            Optional<Double> nvlinkTxBytesPerSecond,
            Optional<Double> nvlinkRxBytesPerSecond) {
        public Links {
            Checks.notNegative("pcieTxBytesPerSecond", pcieTxBytesPerSecond);
            Checks.notNegative("pcieRxBytesPerSecond", pcieRxBytesPerSecond);
            Checks.notNegative("nvlinkTxBytesPerSecond", nvlinkTxBytesPerSecond);
            Checks.notNegative("nvlinkRxBytesPerSecond", nvlinkRxBytesPerSecond);
        }
    }

    /**
     * XID errors, and ECC errors of its memory.
     *
     * @param lastXid the last XID error that the driver reported, if any
     * @param eccCorrected memory errors that were corrected since the driver was loaded
     * @param eccUncorrected memory errors that could not be corrected since the driver was loaded
     * @param xidsInFiveMinutes XID errors of the last five minutes; absent where they are not listened for
     * @param lastXidAt when the last XID error was received, where it was
     */
    public record Errors(
            Optional<Integer> lastXid,
            Optional<Long> eccCorrected,
            Optional<Long> eccUncorrected,
            Optional<Integer> xidsInFiveMinutes,
            Optional<Instant> lastXidAt) {
        public Errors {
            Checks.notNegative("eccCorrected", eccCorrected);
            Checks.notNegative("eccUncorrected", eccUncorrected);
            Checks.notNegative("xidsInFiveMinutes", xidsInFiveMinutes);
        }
    }

    /** The same, used by these. */
    public GpuSample withUsers(List<String> users) {
        return new GpuSample(gpuId, activity, memory, power, temperature, clocks, links, errors, Optional.of(users));
    }

    /** Collects the readings of a device, piece by piece. */
    public static GpuSampleBuilder of(GpuId gpuId) {
        return new GpuSampleBuilder(gpuId);
    }
}

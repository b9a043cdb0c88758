package io.lendstream.agent.gpu.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import io.lendstream.core.event.GpuSampleBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The current values of a whole GPU, in SI units. PCIe throughput comes from {@link Gpm}: NVML's other function for
 * it takes 20 ms a call.
 */
final class DeviceValues {
    private static final int SM_CLOCK = 1;
    private static final int MEMORY_CLOCK = 2;
    private static final long MEGAHERTZ = 1_000_000;
    private static final double MILLI = 1e-3;
    private static final double KIB = 1024;

    /** Reading this counter takes 3 ms on an H100, more than all other values together. */
    private static final Duration ENERGY_EVERY = Duration.ofSeconds(10);

    private static final int FIELD_BYTES = 40;
    private static final int MEMORY_TEMPERATURE = 82;
    private static final int NVLINK_SENT = 138;
    private static final int NVLINK_RECEIVED = 139;
    private static final int ALL_LINKS = -1;

    private record Traffic(double sentKib, double receivedKib, Instant at) {}

    private record Energy(double joules, Instant at) {}

    private final Calls calls;
    private final String who;
    private final Pointer gpu;
    private Optional<Traffic> traffic = Optional.empty();
    private Optional<Energy> energy = Optional.empty();

    DeviceValues(Calls calls, String who, Pointer gpu) {
        this.calls = calls;
        this.who = who;
        this.gpu = gpu;
    }

    void read(GpuSampleBuilder sample, boolean mig, Instant now) throws NvmlException, GpuGoneException {
        MemoryReading.of(calls, who, gpu)
                .ifPresent(
                        memory -> sample.memoryTotalBytes(memory.totalBytes()).memoryUsedBytes(memory.usedBytes()));
        Memory answer = calls.answer();
        // with MIG some drivers refuse this and others return 0, which must not be mistaken for idle
        if (!mig && calls.has(who, "nvmlDeviceGetUtilizationRates", gpu, answer)) {
            sample.utilization(share(answer.getInt(0))).memoryUtilization(share(answer.getInt(4)));
        }
        calls.unsigned(who, "nvmlDeviceGetPowerUsage", gpu).ifPresent(value -> sample.powerWatts(value * MILLI));
        energy(now).ifPresent(sample::energyJoules);
        temperature().ifPresent(sample::temperatureCelsius);
        calls.unsigned(who, "nvmlDeviceGetClockInfo", gpu, SM_CLOCK)
                .ifPresent(value -> sample.smClockHertz(value * MEGAHERTZ));
        calls.unsigned(who, "nvmlDeviceGetClockInfo", gpu, MEMORY_CLOCK)
                .ifPresent(value -> sample.memoryClockHertz(value * MEGAHERTZ));
        reasons().ifPresent(sample::throttleReasons);
        calls.big(who, "nvmlDeviceGetTotalEccErrors", gpu, 0, 0).ifPresent(sample::eccCorrected);
        calls.big(who, "nvmlDeviceGetTotalEccErrors", gpu, 1, 0).ifPresent(sample::eccUncorrected);
        fields(sample, now);
    }

    private static double share(int percent) {
        return Math.max(0, Math.min(100, percent)) / 100.0;
    }

    private Optional<Double> energy(Instant now) throws NvmlException, GpuGoneException {
        Optional<Energy> last = energy.filter(
                each -> !now.isBefore(each.at) && Duration.between(each.at, now).compareTo(ENERGY_EVERY) < 0);
        if (last.isEmpty()) {
            energy = calls.big(who, "nvmlDeviceGetTotalEnergyConsumption", gpu)
                    .map(value -> new Energy(value * MILLI, now));
        }
        return energy.map(Energy::joules);
    }

    private Optional<Double> temperature() throws NvmlException, GpuGoneException {
        Optional<Long> celsius = calls.unsigned(who, "nvmlDeviceGetTemperature", gpu, 0);
        if (celsius.isPresent()) {
            return Optional.of((double) celsius.get().intValue());
        }
        Memory answer = calls.answer(); // the newer function, for drivers that may drop the older one
        answer.setInt(0, 12 | 1 << 24);
        answer.setInt(4, 0);
        return calls.has(who, "nvmlDeviceGetTemperatureV", gpu, answer)
                ? Optional.of((double) answer.getInt(8))
                : Optional.empty();
    }

    private Optional<List<String>> reasons() throws NvmlException, GpuGoneException {
        Optional<Long> told = calls.big(who, "nvmlDeviceGetCurrentClocksEventReasons", gpu);
        Optional<Long> bits =
                told.isPresent() ? told : calls.big(who, "nvmlDeviceGetCurrentClocksThrottleReasons", gpu);
        return bits.map(ThrottleReasons::words);
    }

    private void fields(GpuSampleBuilder sample, Instant now) throws NvmlException, GpuGoneException {
        Memory fields = calls.answer();
        fields.clear(3 * FIELD_BYTES);
        fields.setInt(0, MEMORY_TEMPERATURE);
        fields.setInt(FIELD_BYTES, NVLINK_SENT);
        fields.setInt(FIELD_BYTES + 4, ALL_LINKS);
        fields.setInt(2 * FIELD_BYTES, NVLINK_RECEIVED);
        fields.setInt(2 * FIELD_BYTES + 4, ALL_LINKS);
        if (!calls.has(who, "nvmlDeviceGetFieldValues", gpu, 3, fields)) {
            return;
        }
        field(fields, 0).ifPresent(sample::memoryTemperatureCelsius);
        Optional<Double> sent = field(fields, 1);
        Optional<Double> received = field(fields, 2);
        if (sent.isEmpty() || received.isEmpty()) {
            return;
        }
        Traffic after = new Traffic(sent.get(), received.get(), now);
        traffic.ifPresent(before -> rates(sample, before, after));
        traffic = Optional.of(after);
    }

    /** A counter that decreased was reset; it is reported as absent once. */
    private static void rates(GpuSampleBuilder sample, Traffic before, Traffic after) {
        Duration length = Duration.between(before.at, after.at);
        boolean forward = after.sentKib >= before.sentKib && after.receivedKib >= before.receivedKib;
        if (forward && length.compareTo(Gpm.SHORTEST) >= 0 && length.compareTo(Gpm.LONGEST) <= 0) {
            double seconds = length.toNanos() * 1e-9;
            sample.nvlinkTxBytesPerSecond((after.sentKib - before.sentKib) * KIB / seconds);
            sample.nvlinkRxBytesPerSecond((after.receivedKib - before.receivedKib) * KIB / seconds);
        }
    }

    /** Each value has its own code and type. */
    private static Optional<Double> field(Memory fields, int place) {
        long at = (long) place * FIELD_BYTES;
        if (fields.getInt(at + 28) != 0) {
            return Optional.empty();
        }
        double value = switch (fields.getInt(at + 24)) {
            case 0 -> fields.getDouble(at + 32);
            case 1 -> Integer.toUnsignedLong(fields.getInt(at + 32));
            case 2, 3, 4 -> fields.getLong(at + 32);
            case 5 -> fields.getInt(at + 32);
            case 6 -> Short.toUnsignedInt(fields.getShort(at + 32));
            default -> Double.NaN;
        };
        return Double.isFinite(value) && value >= 0 ? Optional.of(value) : Optional.empty();
    }
}

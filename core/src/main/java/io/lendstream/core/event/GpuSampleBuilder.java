package io.lendstream.core.event;

import io.lendstream.core.id.GpuId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A {@link GpuSample} in the making: whatever is not given is absent, and utilisation that is not given is unsupported.
 * For one thread.
 */
public final class GpuSampleBuilder {
    private final GpuId gpuId;
    private Quality utilizationQuality = Quality.UNSUPPORTED;
    private Optional<Double> utilization = Optional.empty();
    private Optional<Double> smActivity = Optional.empty();
    private Optional<Double> dramActivity = Optional.empty();
    private Optional<Long> memoryUsedBytes = Optional.empty();
    private Optional<Long> memoryTotalBytes = Optional.empty();
    private Optional<Double> powerWatts = Optional.empty();
    private Optional<Double> temperatureCelsius = Optional.empty();
    private Optional<Integer> lastXid = Optional.empty();
    private Optional<Double> memoryUtilization = Optional.empty();
    private Optional<Double> tensorActivity = Optional.empty();
    private Optional<Double> energyJoules = Optional.empty();
    private Optional<Long> smClockHertz = Optional.empty();
    private Optional<Long> memoryClockHertz = Optional.empty();
    private List<String> throttleReasons = List.of();
    private Optional<Long> eccCorrected = Optional.empty();
    private Optional<Long> eccUncorrected = Optional.empty();
    private Optional<Double> pcieTxBytesPerSecond = Optional.empty();
    private Optional<Double> pcieRxBytesPerSecond = Optional.empty();
    private Optional<Double> nvlinkTxBytesPerSecond = Optional.empty();
    private Optional<Double> nvlinkRxBytesPerSecond = Optional.empty();
    private Optional<Double> memoryTemperatureCelsius = Optional.empty();
    private Optional<Integer> xidsInFiveMinutes = Optional.empty();
    private Optional<Instant> lastXidAt = Optional.empty();

    GpuSampleBuilder(GpuId gpuId) {
        this.gpuId = gpuId;
    }

    /** Measured utilisation; without a measurement, give the {@link #utilizationQuality quality} alone. */
    public GpuSampleBuilder utilization(double fraction) {
        this.utilization = Optional.of(fraction);
        this.utilizationQuality = Quality.MEASURED;
        return this;
    }

    public GpuSampleBuilder utilizationQuality(Quality quality) {
        this.utilizationQuality = quality;
        return this;
    }

    public GpuSampleBuilder smActivity(double value) {
        this.smActivity = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder dramActivity(double value) {
        this.dramActivity = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder memoryUsedBytes(long value) {
        this.memoryUsedBytes = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder memoryTotalBytes(long value) {
        this.memoryTotalBytes = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder powerWatts(double value) {
        this.powerWatts = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder temperatureCelsius(double value) {
        this.temperatureCelsius = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder lastXid(int value) {
        this.lastXid = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder memoryUtilization(double value) {
        this.memoryUtilization = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder tensorActivity(double value) {
        this.tensorActivity = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder energyJoules(double value) {
        this.energyJoules = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder smClockHertz(long value) {
        this.smClockHertz = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder memoryClockHertz(long value) {
        this.memoryClockHertz = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder throttleReasons(List<String> value) {
        this.throttleReasons = List.copyOf(value);
        return this;
    }

    public GpuSampleBuilder eccCorrected(long value) {
        this.eccCorrected = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder eccUncorrected(long value) {
        this.eccUncorrected = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder pcieTxBytesPerSecond(double value) {
        this.pcieTxBytesPerSecond = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder pcieRxBytesPerSecond(double value) {
        this.pcieRxBytesPerSecond = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder nvlinkTxBytesPerSecond(double value) {
        this.nvlinkTxBytesPerSecond = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder nvlinkRxBytesPerSecond(double value) {
        this.nvlinkRxBytesPerSecond = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder memoryTemperatureCelsius(double value) {
        this.memoryTemperatureCelsius = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder xidsInFiveMinutes(int value) {
        this.xidsInFiveMinutes = Optional.of(value);
        return this;
    }

    public GpuSampleBuilder lastXidAt(Instant value) {
        this.lastXidAt = Optional.of(value);
        return this;
    }

    public GpuSample build() {
        return new GpuSample(
                gpuId,
                new GpuSample.Activity(
                        utilizationQuality, utilization, smActivity, dramActivity, memoryUtilization, tensorActivity),
                new GpuSample.Memory(memoryUsedBytes, memoryTotalBytes),
                new GpuSample.Power(powerWatts, energyJoules),
                new GpuSample.Temperature(temperatureCelsius, memoryTemperatureCelsius),
                new GpuSample.Clocks(smClockHertz, memoryClockHertz, throttleReasons),
                new GpuSample.Links(
                        pcieTxBytesPerSecond, pcieRxBytesPerSecond, nvlinkTxBytesPerSecond, nvlinkRxBytesPerSecond),
                new GpuSample.Errors(lastXid, eccCorrected, eccUncorrected, xidsInFiveMinutes, lastXidAt),
                Optional.empty());
    }
}

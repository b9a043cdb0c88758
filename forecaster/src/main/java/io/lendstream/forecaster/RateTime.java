package io.lendstream.forecaster;

import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;

/**
 * How far event time has got in a partition: a bounded disorder behind its newest window, told with the very record that
 * moves it. A source whose clock is ahead moves it no further than the clock here, lest it makes all others late.
 */
final class RateTime implements WatermarkGenerator<Incoming> {
    private final RateReader.Clock clock;
    private final long disorderMillis;
    private long told = Long.MIN_VALUE;

    RateTime(RateReader.Clock clock, long disorderMillis) {
        this.clock = clock;
        this.disorderMillis = disorderMillis;
    }

    @Override
    public void onEvent(Incoming event, long timestamp, WatermarkOutput output) {
        if (event instanceof Incoming.Measured measured) {
            long end = Math.min(
                    measured.rate().windowEnd().toEpochMilli(), clock.now().toEpochMilli());
            if (end - disorderMillis - 1 > told) {
                told = end - disorderMillis - 1;
                output.emitWatermark(new Watermark(told));
            }
        }
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {}
}

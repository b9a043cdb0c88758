package io.lendstream.forecaster;

import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;

/**
 * Event time in a partition: a fixed disorder behind its newest window, emitted with the record that moves it. A
 * source with a fast clock advances it no further than this machine's clock, so that it does not make all others
 * late.
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

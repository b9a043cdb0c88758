package io.lendstream.forecaster;

import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;

/** A declaration holds from when it is read until the next: no event time is told by it, and none waits for it. */
final class Timeless implements WatermarkGenerator<Declared> {
    @Override
    public void onEvent(Declared event, long timestamp, WatermarkOutput output) {
        output.markIdle();
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {
        output.markIdle();
    }
}

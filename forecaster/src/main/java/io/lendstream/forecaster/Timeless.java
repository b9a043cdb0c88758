package io.lendstream.forecaster;

import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;

/** Event time of declarations: they apply from reading until the next one, and neither advance nor hold back time. */
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

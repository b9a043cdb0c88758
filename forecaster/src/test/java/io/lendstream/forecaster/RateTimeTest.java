package io.lendstream.forecaster;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.service.Rates;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class RateTimeTest {
    private static final Instant NOW = Rates.MIDNIGHT.plusSeconds(3600);

    private final RateTime time = new RateTime(() -> NOW, 10_000);
    private final List<Instant> told = new ArrayList<>();

    @Test
    void staysBehindTheNewestWindowByTheAllowedDisorderAndNeverGoesBack() {
        see(ending(Rates.MIDNIGHT.plusSeconds(60)));
        see(ending(Rates.MIDNIGHT.plusSeconds(45)));
        see(ending(Rates.MIDNIGHT.plusSeconds(75)));

        assertThat(told)
                .containsExactly(
                        Rates.MIDNIGHT.plusSeconds(50).minusMillis(1),
                        Rates.MIDNIGHT.plusSeconds(65).minusMillis(1));
    }

    @Test
    void isNotHurriedByASourceWhoseClockIsAhead() {
        see(ending(NOW.plusSeconds(240)));

        assertThat(told).containsExactly(NOW.minusSeconds(10).minusMillis(1));
    }

    @Test
    void learnsNothingFromPoison() {
        var record = new ConsumerRecord<>("lendstream.request-rates", 0, 1L, new byte[0], new byte[0]);

        time.onEvent(
                new Incoming.Poison(new RateDeadLetter(record, "kind", "reason")),
                NOW.plusSeconds(99).toEpochMilli(),
                new Told());

        assertThat(told).isEmpty();
    }

    private static RequestRate ending(Instant end) {
        return Rates.of("gateway").from(end.minusSeconds(15)).next(1);
    }

    private void see(RequestRate rate) {
        time.onEvent(new Incoming.Measured(rate), rate.windowEnd().toEpochMilli(), new Told());
    }

    private final class Told implements WatermarkOutput {
        @Override
        public void emitWatermark(Watermark watermark) {
            told.add(Instant.ofEpochMilli(watermark.getTimestamp()));
        }

        @Override
        public void markIdle() {}

        @Override
        public void markActive() {}
    }
}

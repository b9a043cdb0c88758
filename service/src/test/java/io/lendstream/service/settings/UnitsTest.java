package io.lendstream.service.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class UnitsTest {
    @Test
    void readsLengthsOfTimeAsPeopleWriteThem() {
        assertThat(Units.duration("250ms")).contains(Duration.ofMillis(250));
        assertThat(Units.duration("1.5s")).contains(Duration.ofMillis(1500));
        assertThat(Units.duration("1h30m")).contains(Duration.ofMinutes(90));
        assertThat(Units.duration("2d")).contains(Duration.ofDays(2));
        assertThat(Units.duration("PT45S")).contains(Duration.ofSeconds(45));
        assertThat(Units.duration("0")).contains(Duration.ZERO);
    }

    @Test
    void aNumberWithoutAUnitIsNoLengthOfTime() {
        assertThat(Units.duration("45")).isEmpty();
        assertThat(Units.duration("45x")).isEmpty();
        assertThat(Units.duration("s")).isEmpty();
        assertThat(Units.duration("-5s")).isEmpty();
        assertThat(Units.duration("")).isEmpty();
    }

    @Test
    void writesWhatItReads() {
        for (String text : new String[] {"0s", "250ms", "45s", "1h30m", "2d3h"}) {
            assertThat(Units.duration(text).map(Units::text)).contains(text);
        }
    }

    @Test
    void readsAmountsOfMemory() {
        assertThat(Units.bytes("8GiB")).contains(8L << 30);
        assertThat(Units.bytes("1.5MiB")).contains(3L << 19);
        assertThat(Units.bytes("512B")).contains(512L);
        assertThat(Units.bytes("40Gi")).contains(40L << 30);
        assertThat(Units.bytes("8GB")).isEmpty();
    }
}

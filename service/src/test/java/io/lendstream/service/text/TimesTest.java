package io.lendstream.service.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class TimesTest {
    private static final Instant TIME = Instant.parse("2026-01-01T07:13:10.0429Z");

    @Test
    void aTimeHasItsDateAndItsZone() {
        assertThat(Times.at(TIME)).isEqualTo("2026-01-01 07:13:10 UTC");
        assertThat(Times.exact(TIME)).isEqualTo("2026-01-01 07:13:10.042 UTC");
        assertThat(Times.column(TIME)).isEqualTo("2026-01-01 07:13:10");
    }

    @Test
    void onlyAVirtualTimeIsMarked() {
        assertThat(Times.at(TIME, true)).isEqualTo("2026-01-01 07:13:10 UTC (virtual)");
        assertThat(Times.at(TIME, false)).isEqualTo("2026-01-01 07:13:10 UTC");
    }
}

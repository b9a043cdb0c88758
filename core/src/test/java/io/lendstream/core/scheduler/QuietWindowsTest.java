package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuietWindowsTest {
    /** 2026-01-01 is a Thursday. */
    @ParameterizedTest
    @CsvSource({
        "08:00-10:00,          2026-01-01T08:00:00Z, true",
        "08:00-10:00,          2026-01-01T09:59:59Z, true",
        "08:00-10:00,          2026-01-01T10:00:00Z, false",
        "08:00-10:00,          2026-01-04T09:00:00Z, true",
        "mon-fri 08:00-10:00,  2026-01-02T09:00:00Z, true",
        "mon-fri 08:00-10:00,  2026-01-03T09:00:00Z, false",
        "fri-mon 08:00-10:00,  2026-01-04T09:00:00Z, true",
        "fri-mon 08:00-10:00,  2026-01-06T09:00:00Z, false",
        "Thu 22:00-04:00,      2026-01-01T23:00:00Z, true",
        "thu 22:00-04:00,      2026-01-02T03:59:00Z, true",
        "thu 22:00-04:00,      2026-01-02T04:00:00Z, false",
        "thu 22:00-04:00,      2026-01-01T03:00:00Z, false",
        "sun 22:00-04:00,      2026-01-05T01:00:00Z, true",
        "thu 00:00-00:00,      2026-01-01T13:00:00Z, true",
        "thu 00:00-00:00,      2026-01-02T00:00:00Z, false",
    })
    void aWindowHoldsFromItsStartUntilBeforeItsEndWhichMayBeOnTheNextDay(String windows, Instant at, boolean quiet) {
        assertThat(QuietWindows.parse(windows).at(at).isPresent()).isEqualTo(quiet);
    }

    @ParameterizedTest
    @ValueSource(strings = {"8-10", "08:00", "25:00-26:00", "mo 08:00-10:00", "abc-fri 08:00-10:00", "08:00-10:00 mon"})
    void whatIsNoTimeOfTheWeekIsNamed(String text) {
        assertThatThrownBy(() -> QuietWindows.parse("09:00-10:00, " + text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has '%s'".formatted(text))
                .hasMessageContaining("mon-fri 17:30-18:30");
    }
}

package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.DayOfWeek;
import java.time.Instant;
import org.junit.jupiter.api.Test;
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

    @Test
    void windowsAreWrittenAsTheyWereReadAndBlanksBetweenThemDoNotCount() {
        QuietWindows windows = QuietWindows.parse(" mon-fri 17:30-18:30 ,, 08:00-10:00,");

        assertThat(windows).hasToString("mon-fri 17:30-18:30,08:00-10:00");
        assertThat(QuietWindows.parse(windows.toString())).isEqualTo(windows);
        assertThat(QuietWindows.parse("")).isEqualTo(QuietWindows.NONE);
        assertThat(QuietWindows.NONE).hasToString("");
    }

    @Test
    void theWindowThatHoldsIsTheFirstThatDoes() {
        QuietWindows windows = QuietWindows.parse("wed 08:00-10:00,08:30-09:00,08:00-11:00");

        assertThat(windows.at(Instant.parse("2026-01-01T08:45:00Z"))
                        .orElseThrow()
                        .text())
                .isEqualTo("08:30-09:00");
        assertThat(windows.at(Instant.parse("2026-01-01T10:45:00Z"))
                        .orElseThrow()
                        .text())
                .isEqualTo("08:00-11:00");
        assertThat(windows.at(Instant.parse("2026-01-01T11:00:00Z"))).isEmpty();
    }

    @Test
    void withoutADayAWindowHoldsOnAllSevenDaysAndWithOneOnThatDayOnly() {
        assertThat(QuietWindows.parse("08:00-10:00").windows().get(0).days()).hasSize(7);
        assertThat(QuietWindows.parse("sun 08:00-10:00").windows().get(0).days())
                .containsExactly(DayOfWeek.SUNDAY);
        assertThat(QuietWindows.parse("sat-mon 08:00-10:00").windows().get(0).days())
                .containsExactlyInAnyOrder(DayOfWeek.SATURDAY, DayOfWeek.SUNDAY, DayOfWeek.MONDAY);
    }

    @Test
    void theMessageSaysWhatToWrite() {
        assertThatThrownBy(() -> QuietWindows.parse("mon-xyz 08:00-10:00"))
                .hasMessage("scheduler.quiet-windows has 'mon-xyz 08:00-10:00', which is no time of the week in UTC;"
                        + " write 08:00-10:00 or mon-fri 17:30-18:30");
    }
}

package io.lendstream.service.text;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Times for people: with date and zone, such as {@code 2026-01-01 07:13:10 UTC}. */
public final class Times {
    private static final DateTimeFormatter SECONDS = formatter("yyyy-MM-dd HH:mm:ss");
    private static final DateTimeFormatter MILLIS = formatter("yyyy-MM-dd HH:mm:ss.SSS");
    private static final String ZONE = " UTC";

    private Times() {}

    private static DateTimeFormatter formatter(String pattern) {
        return DateTimeFormatter.ofPattern(pattern, Locale.ROOT).withZone(ZoneOffset.UTC);
    }

    /** A time to the second. */
    public static String at(Instant time) {
        return SECONDS.format(time) + ZONE;
    }

    /** A time to the second, marked if it is the virtual time of an accelerated run. */
    public static String at(Instant time, boolean virtual) {
        return at(time) + (virtual ? " (virtual)" : "");
    }

    /** A time to the millisecond. */
    public static String exact(Instant time) {
        return MILLIS.format(time) + ZONE;
    }

    /** A time without its zone, for columns whose title names the zone. */
    public static String column(Instant time) {
        return SECONDS.format(time);
    }
}

package io.lendstream.load;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Times for people, such as {@code 2026-01-01 07:13:10 UTC}. */
final class UtcText {
    private static final DateTimeFormatter FORMAT = DateTimeFormatter.ofPattern(
                    "yyyy-MM-dd HH:mm:ss 'UTC'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private UtcText() {}

    static String of(Instant time) {
        return FORMAT.format(time);
    }
}

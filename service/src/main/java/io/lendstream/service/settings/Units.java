package io.lendstream.service.settings;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Lengths of time and amounts of memory as people write them: {@code 45s}, {@code 1h30m}, {@code 8GiB}. */
public final class Units {
    private static final Pattern TIME_PART = Pattern.compile("\\G(\\d+(?:\\.\\d+)?)\\s*(ms|s|m|h|d)\\s*");
    private static final Pattern BYTES = Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*(B|KiB?|MiB?|GiB?|TiB?)");

    private Units() {}

    /**
     * Reads {@code 250ms}, {@code 45s}, {@code 5m}, {@code 1h30m}, {@code 2d} or {@code PT45S}; empty for anything
     * else.
     */
    public static Optional<Duration> duration(String text) {
        String trimmed = text.strip();
        if (trimmed.toUpperCase(Locale.ROOT).startsWith("P")) {
            try {
                return Optional.of(Duration.parse(trimmed)).filter(length -> !length.isNegative());
            } catch (DateTimeParseException e) {
                return Optional.empty();
            }
        }
        if (trimmed.equals("0")) {
            return Optional.of(Duration.ZERO);
        }
        Matcher part = TIME_PART.matcher(trimmed);
        double millis = 0;
        int end = 0;
        while (part.find()) {
            millis += Double.parseDouble(part.group(1)) * millisIn(part.group(2));
            end = part.end();
        }
        return end == 0 || end < trimmed.length() || millis > 1e14
                ? Optional.empty()
                : Optional.of(Duration.ofMillis(Math.round(millis)));
    }

    /** Writes a length of time the way that {@link #duration} reads. */
    public static String text(Duration duration) {
        long millis = duration.toMillis();
        if (millis == 0) {
            return "0s";
        }
        var text = new StringBuilder();
        for (String unit : new String[] {"d", "h", "m", "s", "ms"}) {
            long whole = millis / millisIn(unit);
            if (whole > 0) {
                text.append(whole).append(unit);
                millis -= whole * millisIn(unit);
            }
        }
        return text.toString();
    }

    /**
     * Reads {@code 512B}, {@code 64KiB}, {@code 1.5MiB}, {@code 8GiB} or {@code 1TiB}, and the same as Kubernetes has
     * it, such as {@code 8Gi}; empty for anything else.
     */
    public static Optional<Long> bytes(String text) {
        Matcher bytes = BYTES.matcher(text.strip());
        if (!bytes.matches()) {
            return Optional.empty();
        }
        long unit = switch (bytes.group(2)) {
            case "Ki", "KiB" -> 1L << 10;
            case "Mi", "MiB" -> 1L << 20;
            case "Gi", "GiB" -> 1L << 30;
            case "Ti", "TiB" -> 1L << 40;
            default -> 1L;
        };
        return Optional.of(Math.round(Double.parseDouble(bytes.group(1)) * unit));
    }

    private static long millisIn(String unit) {
        return switch (unit) {
            case "ms" -> 1L;
            case "s" -> 1_000L;
            case "m" -> 60_000L;
            case "h" -> 3_600_000L;
            default -> 86_400_000L;
        };
    }
}

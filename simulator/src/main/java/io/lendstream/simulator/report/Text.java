package io.lendstream.simulator.report;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Writes numbers, times and foreign text, on terminals and on the page. */
public final class Text {
    /** The sign for a value that is not known. */
    public static final String NOTHING = "–";

    private static final DateTimeFormatter MINUTE =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter SECOND = DateTimeFormatter.ofPattern(
                    "yyyy-MM-dd HH:mm:ss 'UTC'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private Text() {}

    /** Text from other sources, made harmless in HTML content and attributes. */
    static String escape(String text) {
        StringBuilder safe = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(c -> {
            switch (c) {
                case '&' -> safe.append("&amp;");
                case '<' -> safe.append("&lt;");
                case '>' -> safe.append("&gt;");
                case '"' -> safe.append("&quot;");
                case '\'' -> safe.append("&#39;");
                default -> safe.appendCodePoint(isPrintable(c) ? c : 0xFFFD);
            }
        });
        return safe.toString();
    }

    /**
     * Not so control characters, halves of surrogate pairs, marks that reverse what follows, and what XML does not
     * have.
     */
    private static boolean isPrintable(int c) {
        if (c == '\n' || c == '\t') {
            return true;
        }
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> (c & 0xFFFE) != 0xFFFE;
        };
    }

    /** Three digits that matter, thousands grouped: {@code 1,234}, {@code 12.3}, {@code 0.0123}. */
    public static String number(double value) {
        if (!Double.isFinite(value)) {
            return NOTHING;
        }
        double size = Math.abs(value);
        if (size >= 99.95 || value == Math.rint(value)) {
            return number(Math.round(value));
        }
        int decimals = size >= 9.995 ? 1 : size >= 0.9995 ? 2 : size >= 0.0995 ? 3 : 4;
        return minus(String.format(Locale.ROOT, "%." + decimals + "f", value));
    }

    /** A number as it is, without trailing zeros: {@code 0.1}, {@code 1,500}. */
    static String plain(double value) {
        if (!Double.isFinite(value)) {
            return NOTHING;
        }
        String digits = String.format(Locale.ROOT, "%,.4f", value);
        String trimmed = digits.replaceAll("\\.?0+$", "");
        return minus(trimmed.equals("-0") ? "0" : trimmed);
    }

    /** A whole number, thousands grouped. */
    public static String number(long value) {
        return minus(String.format(Locale.ROOT, "%,d", value));
    }

    /** A count with its noun: {@code 1 run}, {@code 2 runs}. */
    public static String plural(long count, String noun) {
        return number(count) + " " + noun + (count == 1 ? "" : "s");
    }

    /** With the minus sign U+2212 instead of a hyphen; zero has no sign. */
    private static String minus(String number) {
        if (number.matches("-[0.]+")) {
            return number.substring(1);
        }
        return number.startsWith("-") ? "\u2212" + number.substring(1) : number;
    }

    /** A fraction in percent: {@code 43.3 %}; with three decimals within one percent of 0 % and 100 %. */
    public static String percent(double fraction) {
        return Double.isFinite(fraction) ? digits(fraction) + " %" : NOTHING;
    }

    /** The number of percent of a fraction, without the sign for percent, thousands grouped. */
    static String digits(double fraction) {
        double percent = fraction * 100;
        double distance = Math.min(Math.abs(percent), Math.abs(100 - percent));
        int decimals = distance > 0 && distance < 1 ? 3 : 1;
        return minus(String.format(Locale.ROOT, "%,." + decimals + "f", percent));
    }

    /** A length of time in the unit that suits it: {@code 5.50 h}. */
    public static String duration(double seconds) {
        return duration(seconds, DurationUnit.of(seconds));
    }

    /** A length of time in the unit of its column. */
    public static String duration(double seconds, DurationUnit unit) {
        if (!Double.isFinite(seconds)) {
            return NOTHING;
        }
        return number(seconds / unit.seconds()) + " " + unit.symbol();
    }

    /** Time since a start as {@code 1d 02:03:04}. */
    static String elapsed(Instant start, Instant at) {
        long seconds = Math.max(0, at.getEpochSecond() - start.getEpochSecond());
        String clock = "%02d:%02d:%02d".formatted(seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        return seconds < 86400 ? clock : seconds / 86400 + "d " + clock;
    }

    static String minute(Instant at) {
        return MINUTE.format(at);
    }

    /** A moment: {@code 2026-01-01 07:13:10 UTC}. */
    public static String second(Instant at) {
        return SECOND.format(at);
    }

    /** A length in SVG units. */
    static String length(double value) {
        if (!Double.isFinite(value)) {
            return "0";
        }
        long tenths = Math.round(value * 10);
        long rest = Math.abs(tenths % 10);
        String whole = (tenths < 0 && tenths > -10 ? "-" : "") + tenths / 10;
        return rest == 0 ? whole : whole + "." + rest;
    }

    /** The units of lengths of time. */
    public enum DurationUnit {
        MILLISECONDS("ms", 0.001),
        SECONDS("s", 1),
        MINUTES("min", 60),
        HOURS("h", 3600),
        DAYS("d", 86400);

        private final String symbol;
        private final double seconds;

        DurationUnit(String symbol, double seconds) {
            this.symbol = symbol;
            this.seconds = seconds;
        }

        String symbol() {
            return symbol;
        }

        double seconds() {
            return seconds;
        }

        /** The unit that suits a length of time. */
        public static DurationUnit of(double seconds) {
            double size = Math.abs(seconds);
            if (size == 0 || !Double.isFinite(seconds)) {
                return SECONDS;
            }
            if (size < 0.1) {
                return MILLISECONDS;
            }
            return size < 180 ? SECONDS : size < 3 * 3600 ? MINUTES : size < 4 * 86400 ? HOURS : DAYS;
        }
    }
}

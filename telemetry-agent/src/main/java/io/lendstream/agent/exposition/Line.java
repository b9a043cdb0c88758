package io.lendstream.agent.exposition;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** A line that is being parsed, with the current position. */
final class Line {
    private static final BigDecimal NANOS = BigDecimal.valueOf(1_000_000_000L);

    /**
     * The most digits of a time before and after its point; longer numbers are refused, because they take long to
     * parse.
     */
    private static final int LONGEST = 30;

    private final int number;
    private final String content;
    private final Format format;
    private int at;

    Line(int number, String content, Format format) {
        this.number = number;
        this.content = content;
        this.format = format;
    }

    Format format() {
        return format;
    }

    ExpositionException wrong(String cause) {
        return new ExpositionException(number, content, cause);
    }

    boolean atEnd() {
        return at >= content.length();
    }

    char peek() {
        return content.charAt(at);
    }

    void skipSpace() {
        while (!atEnd() && (peek() == ' ' || peek() == '\t')) {
            at++;
        }
    }

    boolean take(char wanted) {
        if (!atEnd() && peek() == wanted) {
            at++;
            return true;
        }
        return false;
    }

    /** Reads up to the next space. */
    String word() {
        int start = at;
        while (!atEnd() && peek() != ' ' && peek() != '\t') {
            at++;
        }
        return content.substring(start, at);
    }

    /** The rest of the line, without surrounding spaces. */
    String rest() {
        String rest = content.substring(at).strip();
        at = content.length();
        return rest;
    }

    String metricName() {
        return name("metric", true);
    }

    /** The name in a line that describes a family. */
    String familyName() {
        skipSpace();
        String name = metricName();
        if (!atEnd() && peek() != ' ' && peek() != '\t') {
            throw wrong("'%c' cannot be in the name of a metric".formatted(peek()));
        }
        return name;
    }

    private String name(String of, boolean colons) {
        int start = at;
        while (!atEnd() && isNamed(peek(), colons, at > start)) {
            at++;
        }
        if (at == start) {
            throw wrong(
                    atEnd()
                            ? "the name of a %s is missing".formatted(of)
                            : "the name of a %s cannot begin with '%c'".formatted(of, peek()));
        }
        return content.substring(start, at);
    }

    private static boolean isNamed(char c, boolean colons, boolean digits) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || c == '_'
                || (colons && c == ':')
                || (digits && c >= '0' && c <= '9');
    }

    /** The unescaped text of a help line. */
    String text() {
        skipSpace();
        String text = content.substring(at);
        at = content.length();
        if (text.indexOf('\\') < 0) {
            return text;
        }
        var plain = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            char next = i + 1 < text.length() ? text.charAt(i + 1) : ' ';
            boolean quote = next == '"' && format == Format.OPEN_METRICS;
            if (c == '\\' && (next == '\\' || next == 'n' || quote)) {
                plain.append(next == 'n' ? '\n' : next);
                i++;
            } else {
                plain.append(c); // writers use single backslashes in help, which is harmless
            }
        }
        return plain.toString();
    }

    /** Labels in braces; empty without braces. */
    Map<String, String> labels() {
        if (!take('{')) {
            return Map.of();
        }
        var labels = new LinkedHashMap<String, String>();
        skipSpace();
        while (!take('}')) {
            String name = name("label", false);
            skipSpace();
            if (!take('=')) {
                throw wrong("label %s must be followed by =".formatted(name));
            }
            skipSpace();
            if (!take('"')) {
                throw wrong("the value of label %s must be in quotes".formatted(name));
            }
            if (labels.put(name, quoted(name)) != null) {
                throw wrong("label %s occurs twice".formatted(name));
            }
            skipSpace();
            boolean more = take(',');
            skipSpace();
            if (!more && (atEnd() || peek() != '}')) {
                throw wrong("after label %s there must be a comma or a closing brace".formatted(name));
            }
            if (more && format == Format.OPEN_METRICS && !atEnd() && peek() == '}') {
                throw wrong("OpenMetrics allows no comma after the last label");
            }
        }
        return labels;
    }

    private String quoted(String label) {
        var value = new StringBuilder();
        while (!atEnd()) {
            char c = content.charAt(at++);
            if (c == '"') {
                return value.toString();
            }
            value.append(c == '\\' ? escaped(label) : c);
        }
        throw wrong("the value of label %s has no closing quote".formatted(label));
    }

    private char escaped(String label) {
        char c = atEnd() ? ' ' : content.charAt(at++);
        return switch (c) {
            case '\\', '"' -> c;
            case 'n' -> '\n';
            default -> throw wrong("the value of label %s has an invalid escape: \\%c".formatted(label, c));
        };
    }

    double number() {
        String word = word();
        if (word.isEmpty()) {
            throw wrong("the value is missing");
        }
        return switch (word.toLowerCase(Locale.ROOT)) {
            case "nan" -> Double.NaN;
            case "inf", "+inf", "infinity", "+infinity" -> Double.POSITIVE_INFINITY;
            case "-inf", "-infinity" -> Double.NEGATIVE_INFINITY;
            default -> decimal(word);
        };
    }

    /** Only digits, sign, point and exponent: Java alone would also accept {@code 1d}. */
    private double decimal(String word) {
        for (int i = 0; i < word.length(); i++) {
            char c = word.charAt(i);
            if ((c < '0' || c > '9') && "+-.eE".indexOf(c) < 0) {
                throw wrong("'%s' is not a number".formatted(word));
            }
        }
        try {
            return Double.parseDouble(word);
        } catch (NumberFormatException e) {
            throw wrong("'%s' is not a number".formatted(word));
        }
    }

    /** The timestamp of the value. */
    Instant time() {
        String word = word();
        if (format == Format.TEXT) {
            if (!word.matches("[+-]?\\d{1,18}")) {
                throw wrong("'%s' is not a time in whole milliseconds".formatted(word));
            }
            return Instant.ofEpochMilli(Long.parseLong(word));
        }
        try {
            BigDecimal seconds = new BigDecimal(word);
            if (seconds.precision() - seconds.scale() > LONGEST || seconds.scale() > LONGEST) {
                throw wrong("'%s' is not a time in seconds".formatted(word));
            }
            BigDecimal nanos = seconds.multiply(NANOS).setScale(0, RoundingMode.DOWN);
            return Instant.EPOCH.plusNanos(nanos.longValueExact());
        } catch (ArithmeticException | NumberFormatException e) {
            throw wrong("'%s' is not a time in seconds".formatted(word));
        }
    }

    /** The exemplar after a sample and a hash: labels, a value, and optionally a time. */
    void exemplar() {
        skipSpace();
        if (atEnd() || peek() != '{') {
            throw wrong("an exemplar must begin with labels in braces");
        }
        labels();
        skipSpace();
        number();
        skipSpace();
        if (!atEnd()) {
            time();
        }
    }
}

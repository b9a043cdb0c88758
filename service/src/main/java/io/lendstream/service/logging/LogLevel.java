package io.lendstream.service.logging;

import ch.qos.logback.core.PropertyDefinerBase;
import io.lendstream.service.text.Printable;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The level of the log: {@code LENDSTREAM_LOG}, or INFO. Logback itself takes an unknown level for DEBUG. */
public final class LogLevel extends PropertyDefinerBase {
    private static final String USUAL = "INFO";
    private static final List<String> LEVELS = List.of("OFF", "ERROR", "WARN", USUAL, "DEBUG", "TRACE", "ALL");

    /** For Logback. */
    public LogLevel() {}

    @Override
    public String getPropertyValue() {
        String given = Optional.ofNullable(System.getenv("LENDSTREAM_LOG")).orElse("");
        warning(given).ifPresent(System.err::println);
        return of(given);
    }

    /** The level that a value of the variable means. */
    static String of(String given) {
        String level = given.strip().toUpperCase(Locale.ROOT);
        return LEVELS.contains(level) ? level : USUAL;
    }

    /** What is wrong with a value of the variable, in one line. */
    static Optional<String> warning(String given) {
        if (given.isBlank() || LEVELS.contains(given.strip().toUpperCase(Locale.ROOT))) {
            return Optional.empty();
        }
        String levels = String.join(", ", LEVELS);
        String text = "LENDSTREAM_LOG is '%s', but must be one of %s; the level is %s.".formatted(given, levels, USUAL);
        return Optional.of(Printable.line(text));
    }
}

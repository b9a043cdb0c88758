package io.lendstream.service.host;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of a process as a GPU's user. No other process on its host gets the same name until a restart.
 *
 * @param startTicks when it started, in clock ticks since the start of the machine
 */
public record ProcessName(long pid, long startTicks) {
    /** No PID and no start has more digits. */
    private static final Pattern NAME = Pattern.compile("process/(\\d{1,18})-(\\d{1,18})");

    /** A name in the form of {@link #toString}; empty if a text has another form, as the user's name of a pod has. */
    public static Optional<ProcessName> parse(String text) {
        Matcher parts = NAME.matcher(text);
        return parts.matches()
                ? Optional.of(new ProcessName(Long.parseLong(parts.group(1)), Long.parseLong(parts.group(2))))
                : Optional.empty();
    }

    /** For example {@code process/4711-99}. */
    @Override
    public String toString() {
        return "process/%d-%d".formatted(pid, startTicks);
    }
}

package io.lendstream.simulator.report;

/**
 * A statement about runs that readers must not overlook.
 *
 * @param code a stable name for programs
 * @param text a sentence for people
 */
public record RunWarning(Level level, String code, String text) {
    /** How serious a warning is. */
    public enum Level {
        NOTE,
        WARNING,
        ALARM
    }

    /** The warning in a line, with its level as a word: {@code ALARM: ...}. */
    public String line() {
        return level + ": " + text;
    }
}

package io.lendstream.stack;

import java.io.Serial;
import java.util.List;

/** The stack cannot start or continue. The message is one line; the last log lines of a child are separate. */
public final class StackException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final transient List<String> lastLines;
    private final boolean badUsage;

    StackException(String message) {
        this(message, List.of());
    }

    StackException(String message, List<String> lastLines) {
        this(message, lastLines, false);
    }

    StackException(String message, Throwable cause) {
        this(message, List.of(), false);
        initCause(cause);
    }

    private StackException(String message, List<String> lastLines, boolean badUsage) {
        super(message);
        this.lastLines = List.copyOf(lastLines);
        this.badUsage = badUsage;
    }

    /** The request is invalid. */
    static StackException badUsage(String message) {
        return new StackException(message, List.of(), true);
    }

    /** Whether the caller has to change the request. */
    public boolean isBadUsage() {
        return badUsage;
    }

    /** The last log lines of the child that failed; empty if none did. */
    public List<String> lastLines() {
        return lastLines;
    }
}

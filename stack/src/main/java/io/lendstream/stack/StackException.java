package io.lendstream.stack;

import java.io.Serial;
import java.util.List;

/** The stack cannot start, or cannot go on. The message is one line; a child's own last words come apart. */
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

    /** What was asked for cannot be. */
    static StackException badUsage(String message) {
        return new StackException(message, List.of(), true);
    }

    /** Whether it is the caller who has to ask for something else. */
    public boolean isBadUsage() {
        return badUsage;
    }

    /** The last lines of the log of the child that is to blame; empty where none is. */
    public List<String> lastLines() {
        return lastLines;
    }
}

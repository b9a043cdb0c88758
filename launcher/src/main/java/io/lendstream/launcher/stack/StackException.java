package io.lendstream.launcher.stack;

import java.io.Serial;
import java.util.List;

/** The stack cannot start, or cannot go on. The message is one line; a child's own last words come apart. */
public final class StackException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final transient List<String> lastLines;

    StackException(String message) {
        this(message, List.of());
    }

    StackException(String message, List<String> lastLines) {
        super(message);
        this.lastLines = List.copyOf(lastLines);
    }

    StackException(String message, Throwable cause) {
        super(message, cause);
        this.lastLines = List.of();
    }

    /** The last lines of the log of the child that is to blame; empty where none is. */
    public List<String> lastLines() {
        return lastLines;
    }
}

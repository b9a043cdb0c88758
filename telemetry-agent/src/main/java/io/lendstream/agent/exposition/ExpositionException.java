package io.lendstream.agent.exposition;

/** Reports text that is not valid in its format, with the line and the reason. */
public final class ExpositionException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private static final int SHOWN = 120;

    private final int line;

    ExpositionException(int line, String content, String cause) {
        super("line %d: %s, in: %s"
                .formatted(line, cause, content.length() > SHOWN ? content.substring(0, SHOWN) + "..." : content));
        this.line = line;
    }

    /** From 1. */
    public int line() {
        return line;
    }
}

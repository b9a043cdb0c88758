package io.lendstream.agent.rates;

/** Reports an unexpected answer of an endpoint; the next reading may succeed. */
public final class UnreadableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnreadableException(String message, Throwable cause) {
        super(message, cause);
    }
}

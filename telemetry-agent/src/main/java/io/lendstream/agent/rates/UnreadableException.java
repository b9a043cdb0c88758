package io.lendstream.agent.rates;

/** What an endpoint answered is not what it should be; the next reading may be. */
public final class UnreadableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnreadableException(String message, Throwable cause) {
        super(message, cause);
    }
}

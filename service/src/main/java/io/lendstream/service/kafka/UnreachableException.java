package io.lendstream.service.kafka;

import org.jspecify.annotations.Nullable;

/** What a service cannot work without is not there: one line with where it was looked for and the way out. */
public final class UnreachableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UnreachableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

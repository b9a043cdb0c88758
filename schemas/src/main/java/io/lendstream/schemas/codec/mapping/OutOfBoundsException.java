package io.lendstream.schemas.codec.mapping;

import org.jspecify.annotations.Nullable;

/** A record with a value beyond its bounds. Its message names the field, the value, the bounds and the way out. */
public final class OutOfBoundsException extends InvalidRecordException {
    private static final long serialVersionUID = 1L;

    OutOfBoundsException(String message) {
        super(message, null);
    }

    public OutOfBoundsException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

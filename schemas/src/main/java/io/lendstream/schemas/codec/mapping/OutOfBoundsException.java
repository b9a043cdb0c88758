package io.lendstream.schemas.codec.mapping;

import org.jspecify.annotations.Nullable;

/** Refuses a record with an out-of-bounds value. The message names field, value, bounds and way out. */
public final class OutOfBoundsException extends InvalidRecordException {
    private static final long serialVersionUID = 1L;

    OutOfBoundsException(String message) {
        super(message, null);
    }

    public OutOfBoundsException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

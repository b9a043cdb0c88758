package io.lendstream.schemas.serde;

import org.jspecify.annotations.Nullable;

/** Reports bytes that do not match their schema, or that the reader's schema cannot accept. */
public final class UndecodableRecordException extends PoisonRecordException {
    private static final long serialVersionUID = 1L;

    UndecodableRecordException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

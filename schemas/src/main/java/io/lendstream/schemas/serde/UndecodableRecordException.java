package io.lendstream.schemas.serde;

import org.jspecify.annotations.Nullable;

/** The bytes after the frame are not what their schema says, or cannot be read as what the reader expects. */
public final class UndecodableRecordException extends PoisonRecordException {
    private static final long serialVersionUID = 1L;

    UndecodableRecordException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

package io.lendstream.schemas.codec.mapping;

import io.lendstream.schemas.serde.PoisonRecordException;
import org.jspecify.annotations.Nullable;

/** Refuses a valid Avro record with impossible content: a value out of bounds, or a missing one. */
public class InvalidRecordException extends PoisonRecordException {
    private static final long serialVersionUID = 1L;

    InvalidRecordException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

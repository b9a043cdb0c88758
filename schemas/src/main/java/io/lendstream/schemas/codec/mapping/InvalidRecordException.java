package io.lendstream.schemas.codec.mapping;

import io.lendstream.schemas.serde.PoisonRecordException;
import org.jspecify.annotations.Nullable;

/** A record that is sound Avro but says what cannot be: a value out of bounds, or nothing where something must be. */
public class InvalidRecordException extends PoisonRecordException {
    private static final long serialVersionUID = 1L;

    InvalidRecordException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

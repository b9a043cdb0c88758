package io.lendstream.schemas.serde;

/** The frame names a schema that the registry does not have, or that is not Avro. */
public final class UnknownSchemaException extends PoisonRecordException {
    private static final long serialVersionUID = 1L;

    UnknownSchemaException(String message, Throwable cause) {
        super(message, cause);
    }
}

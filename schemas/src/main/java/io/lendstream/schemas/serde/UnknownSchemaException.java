package io.lendstream.schemas.serde;

/** Reports a schema ID that the registry does not have, or whose schema is not Avro. */
public final class UnknownSchemaException extends PoisonRecordException {
    private static final long serialVersionUID = 1L;

    UnknownSchemaException(String message, Throwable cause) {
        super(message, cause);
    }
}

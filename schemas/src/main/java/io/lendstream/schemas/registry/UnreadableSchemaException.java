package io.lendstream.schemas.registry;

import org.jspecify.annotations.Nullable;

/** The registry knows the schema, but it is not an Avro schema that can be read. */
public final class UnreadableSchemaException extends RegistryException {
    private static final long serialVersionUID = 1L;

    UnreadableSchemaException(String message, @Nullable Throwable cause) {
        super(message, 200, 0, cause);
    }
}

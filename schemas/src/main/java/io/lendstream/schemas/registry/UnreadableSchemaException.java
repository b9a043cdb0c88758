package io.lendstream.schemas.registry;

import org.jspecify.annotations.Nullable;

/** Reports that the registry has the schema, but it is not a readable Avro schema. */
public final class UnreadableSchemaException extends RegistryException {
    private static final long serialVersionUID = 1L;

    UnreadableSchemaException(String message, @Nullable Throwable cause) {
        super(message, 200, 0, cause);
    }
}

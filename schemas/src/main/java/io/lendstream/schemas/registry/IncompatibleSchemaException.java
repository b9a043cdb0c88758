package io.lendstream.schemas.registry;

/** Reports that the registry refuses a schema because it is incompatible with an earlier version. */
public final class IncompatibleSchemaException extends RegistryException {
    private static final long serialVersionUID = 1L;

    IncompatibleSchemaException(String message, int status, int errorCode) {
        super(message, status, errorCode, null);
    }
}

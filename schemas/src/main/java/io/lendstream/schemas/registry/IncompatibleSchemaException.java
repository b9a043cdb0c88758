package io.lendstream.schemas.registry;

/** The registry does not take a schema because readers or writers of an earlier version could not live with it. */
public final class IncompatibleSchemaException extends RegistryException {
    private static final long serialVersionUID = 1L;

    IncompatibleSchemaException(String message, int status, int errorCode) {
        super(message, status, errorCode, null);
    }
}

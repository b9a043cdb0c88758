package io.lendstream.schemas.registry;

/** Reports that the registry has no such subject, version or schema ID. */
public final class SchemaNotFoundException extends RegistryException {
    private static final long serialVersionUID = 1L;

    SchemaNotFoundException(String message, int status, int errorCode) {
        super(message, status, errorCode, null);
    }
}

package io.lendstream.schemas.codec.mapping;

/** Refuses a record of an unknown kind, which a newer version wrote. */
public final class UnknownKindException extends InvalidRecordException {
    private static final long serialVersionUID = 1L;

    UnknownKindException(String message) {
        super(message, null);
    }
}

package io.lendstream.schemas.codec.mapping;

/** A record of a kind that this version does not know: a newer one wrote it. */
public final class UnknownKindException extends InvalidRecordException {
    private static final long serialVersionUID = 1L;

    UnknownKindException(String message) {
        super(message, null);
    }
}

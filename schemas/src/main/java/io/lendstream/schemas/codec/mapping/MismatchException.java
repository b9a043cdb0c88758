package io.lendstream.schemas.codec.mapping;

/** A schema and a type do not fit each other. A bug in one of them, found when the mapper is made. */
public final class MismatchException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public MismatchException(String message) {
        super(message);
    }
}

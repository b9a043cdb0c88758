package io.lendstream.schemas.codec.mapping;

/**
 * Reports that a schema and a type do not fit. It is a bug in one of them, found when the mapper is created.
 */
public final class MismatchException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public MismatchException(String message) {
        super(message);
    }
}

package io.lendstream.scheduler;

/**
 * A step that could not be made: the core failed on an event, or what the step led to could not be encoded. The state, the store
 * and the topics are as before.
 */
final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    RefusedException(Throwable failure) {
        super(failure);
    }

    /** What failed, in one line. */
    String why() {
        Throwable failure = getCause();
        return failure.getMessage() == null
                ? failure.getClass().getSimpleName()
                : "%s: %s".formatted(failure.getClass().getSimpleName(), failure.getMessage());
    }
}

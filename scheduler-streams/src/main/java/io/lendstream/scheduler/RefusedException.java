package io.lendstream.scheduler;

import java.util.Objects;

/**
 * Reports that a step could not be made. The core failed on an event, or an output could not be encoded. The state,
 * the store and the topics are unchanged.
 */
final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    RefusedException(Throwable failure) {
        super(failure);
    }

    /** What failed. */
    Throwable failure() {
        return Objects.requireNonNull(getCause());
    }

    /** The failure, in one line. */
    String why() {
        Throwable failure = failure();
        return failure.getMessage() == null
                ? failure.getClass().getSimpleName()
                : "%s: %s".formatted(failure.getClass().getSimpleName(), failure.getMessage());
    }
}

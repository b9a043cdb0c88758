package io.lendstream.scheduler;

/** Why a record will never be an event. */
final class Poison extends Exception {
    private static final long serialVersionUID = 1L;

    /** Kinds of poison, as the metric of dead letters counts them. */
    enum Kind {
        NO_KEY,
        /** A key that nobody may have as a name. */
        UNUSABLE_KEY,
        UNREADABLE,
        FROM_THE_FUTURE,
        TOO_LARGE,
        /** Readable, but the core threw up on it. */
        REFUSED
    }

    private final Kind kind;

    Poison(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    Poison(Kind kind, Throwable cause) {
        super(cause.getMessage(), cause);
        this.kind = kind;
    }

    Kind kind() {
        return kind;
    }

    /** What went wrong in the first place. */
    Throwable origin() {
        return getCause() == null ? this : getCause();
    }
}

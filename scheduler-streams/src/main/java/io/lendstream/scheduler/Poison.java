package io.lendstream.scheduler;

import java.time.Duration;
import java.util.Optional;

/** Why a record can never become an event. */
final class Poison extends Exception {
    private static final long serialVersionUID = 1L;

    /** Reasons for refusal, as the metric of dead letters counts them. */
    enum Kind {
        NO_KEY,
        /** The key is not a valid name. */
        UNUSABLE_KEY,
        UNREADABLE,
        FROM_THE_FUTURE,
        TOO_LARGE,
        /** The intake may not write about this domain. */
        FOREIGN_DOMAIN,
        /** The record is readable, but the core threw an exception on it. */
        REFUSED,
        /** The domain has reached a limit of the settings. */
        OVER_LIMIT,
        /** The domain is stopped, and the record does not repair it. */
        DOMAIN_STOPPED
    }

    private final Kind kind;
    private final Duration ahead;

    Poison(Kind kind, String message) {
        super(message);
        this.kind = kind;
        this.ahead = Duration.ZERO;
    }

    Poison(Kind kind, Throwable cause) {
        super(cause.getMessage(), cause);
        this.kind = kind;
        this.ahead = Duration.ZERO;
    }

    private Poison(Kind kind, Duration ahead, String message) {
        super(message);
        this.kind = kind;
        this.ahead = ahead;
    }

    /**
     * A record with a time in the future.
     *
     * @param ahead how far its time is ahead of this machine's clock
     */
    static Poison fromTheFuture(Duration ahead, String message) {
        return new Poison(Kind.FROM_THE_FUTURE, ahead, message);
    }

    Kind kind() {
        return kind;
    }

    /** How far the record's time is ahead of this machine's clock; empty for other reasons. */
    Optional<Duration> ahead() {
        return kind == Kind.FROM_THE_FUTURE ? Optional.of(ahead) : Optional.empty();
    }

    /** The original error. */
    Throwable origin() {
        return getCause() == null ? this : getCause();
    }
}

package io.lendstream.scheduler;

import java.time.Duration;
import java.util.Optional;

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
        /** Of an intake that may not write about its domain. */
        FOREIGN_DOMAIN,
        /** Readable, but the core threw up on it. */
        REFUSED,
        /** The domain has as many of its kind as the settings allow. */
        OVER_LIMIT,
        /** Its domain is stopped, and the record does not mend that. */
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
     * A record whose time has not come.
     *
     * @param ahead by how much its time is ahead of this machine's clock
     */
    static Poison fromTheFuture(Duration ahead, String message) {
        return new Poison(Kind.FROM_THE_FUTURE, ahead, message);
    }

    Kind kind() {
        return kind;
    }

    /** By how much the record's time is ahead of this machine's clock; empty where that is not what is wrong with it. */
    Optional<Duration> ahead() {
        return kind == Kind.FROM_THE_FUTURE ? Optional.of(ahead) : Optional.empty();
    }

    /** What went wrong in the first place. */
    Throwable origin() {
        return getCause() == null ? this : getCause();
    }
}

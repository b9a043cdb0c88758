package io.lendstream.agent.gpu;

import java.time.Duration;
import java.time.Instant;

/** Delays after failures: none at first, then one second, then twice as long each time, up to a minute. */
final class Backoff {
    static final Duration FIRST = Duration.ofSeconds(1);
    static final Duration LONGEST = Duration.ofMinutes(1);

    private Duration pause = Duration.ZERO;
    private Instant failedAt = Instant.EPOCH;

    /** A clock that was set back must not lengthen the wait. */
    boolean isDue(Instant now) {
        return now.isBefore(failedAt) || !now.isBefore(failedAt.plus(pause));
    }

    void failed(Instant now) {
        Duration doubled = pause.isZero() ? FIRST : pause.multipliedBy(2);
        pause = doubled.compareTo(LONGEST) > 0 ? LONGEST : doubled;
        failedAt = now;
    }

    void succeeded() {
        pause = Duration.ZERO;
    }

    /** The delay after the last failure. */
    Duration pause() {
        return pause;
    }
}

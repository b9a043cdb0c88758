package io.lendstream.core.state;

import java.time.Duration;
import java.time.Instant;

/**
 * Regular reports of an actuator, without a gap, that no tenant runs on a unit that is out of service.
 *
 * @param since the time of the first
 * @param at the time of the last
 */
public record EmptyReports(Instant since, Instant at) {
    /** A longer time without a report is a gap. */
    public static final Duration LONGEST_GAP = Duration.ofSeconds(150);

    /** With a later one. After a gap they begin again. */
    public EmptyReports then(Instant time) {
        return isFresh(time) ? new EmptyReports(since, time) : new EmptyReports(time, time);
    }

    /** Whether they go on at a time. */
    public boolean isFresh(Instant time) {
        return !at.plus(LONGEST_GAP).isBefore(time);
    }
}

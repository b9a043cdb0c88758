package io.lendstream.core.state;

import java.time.Instant;

/**
 * The position of a domain in its log of events and decisions.
 *
 * @param now the latest time that an event spoke of
 * @param epoch the scheduler's term of office; 0 before the first
 * @param eventSequence sequence of the last event applied
 * @param decisionSequence sequence of the last decision made
 */
public record LogPosition(Instant now, long epoch, long eventSequence, long decisionSequence) {
    static final LogPosition START = new LogPosition(Instant.EPOCH, 0, 0, 0);

    /** The same after another event. */
    public LogPosition at(Instant time, long event) {
        return new LogPosition(time, epoch, event, decisionSequence);
    }

    /** The same after other decisions, the last of which has this sequence. */
    LogPosition decided(long sequence) {
        return new LogPosition(now, epoch, eventSequence, sequence);
    }
}

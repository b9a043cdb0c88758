package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.DomainId;
import java.time.Instant;
import java.util.Optional;

/**
 * An accepted event with its place in its domain's log. The log alone gives every decision again.
 *
 * @param epoch the scheduler's term of office over the domain in which it accepted the event
 * @param sequence 1, 2, 3, ... within the domain, over all epochs
 * @param at when it happened as its domain reckons: the event's own time, but in a live deployment none after that of
 *     the clock by which it was accepted
 * @param origin the record it came from; empty for what the scheduler made itself (ticks)
 */
public record DomainEvent(
        DomainId domain, long epoch, long sequence, Instant at, Optional<Origin> origin, Event event) {
    public DomainEvent {
        Checks.atLeast("sequence", 1, sequence);
    }
}

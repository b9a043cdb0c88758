package io.lendstream.service.kafka;

import io.lendstream.core.decision.BatchingDecision;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Progress;
import io.lendstream.core.state.Lease;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** When what a record says happened; a record from too far ahead comes from a clock that is wrong. */
public final class EventTimes {
    private EventTimes() {}

    /** The record's own time; empty for what has none. */
    public static Optional<Instant> of(Object value) {
        if (value instanceof Event event) {
            return Optional.of(event.at());
        }
        if (value instanceof DomainEvent event) {
            return Optional.of(event.at());
        }
        if (value instanceof Decision decision) {
            return Optional.of(decision.at());
        }
        if (value instanceof BatchingDecision decision) {
            return Optional.of(decision.at());
        }
        if (value instanceof Lease lease) {
            return Optional.of(lease.since());
        }
        if (value instanceof Progress progress) {
            return Optional.of(progress.eventTime());
        }
        return Optional.empty();
    }

    /**
     * Fails on a record from the future.
     *
     * @param skew how far a record's clock may be ahead of this machine's
     */
    public static void check(Object value, Instant now, Duration skew) {
        Optional<Instant> time = of(value);
        if (time.isPresent() && time.get().isAfter(now.plus(skew))) {
            throw new FutureRecordException(
                    "the record is of %s, more than max-clock-skew (%d s) ahead of this machine's clock, %s"
                            .formatted(time.get(), skew.toSeconds(), now));
        }
    }
}

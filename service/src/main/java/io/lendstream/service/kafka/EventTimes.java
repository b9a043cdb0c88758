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

/** Event times of records, and the check that no record is too far ahead of this machine's clock. */
public final class EventTimes {
    private EventTimes() {}

    /** The record's own event time; empty for records without one. */
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
     * Rejects a record from the future.
     *
     * @param skew how far a record's time may be ahead of this machine's clock
     */
    public static void check(Object value, Instant now, Duration skew) {
        Optional<Instant> time = of(value);
        if (time.isPresent() && time.get().isAfter(now.plus(skew))) {
            throw new FutureRecordException(
                    "the record has the time %s, more than max-clock-skew (%d s) ahead of this machine's clock (%s)"
                            .formatted(time.get(), skew.toSeconds(), now));
        }
    }
}

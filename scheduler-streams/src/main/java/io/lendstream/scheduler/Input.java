package io.lendstream.scheduler;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.Progress;
import io.lendstream.core.id.DomainId;
import java.time.Instant;

/** The decoded content of an input record. */
sealed interface Input {
    DomainId domain();

    /** The event time of the record. */
    Instant at();

    /** An event of a domain. */
    record Happened(Event event) implements Input {
        @Override
        public DomainId domain() {
            return event.domain();
        }

        @Override
        public Instant at() {
            return event.at();
        }
    }

    /** A service's progress in an accelerated run. */
    record GotOn(Progress progress) implements Input {
        @Override
        public DomainId domain() {
            return progress.domain();
        }

        @Override
        public Instant at() {
            return progress.eventTime();
        }
    }
}

package io.lendstream.scheduler;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.Progress;
import io.lendstream.core.id.DomainId;
import java.time.Instant;

/** What a record of an input topic says. */
sealed interface Input {
    DomainId domain();

    /** The time that it speaks of. */
    Instant at();

    /** Something happened to a domain. */
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

    /** A service has got on. */
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

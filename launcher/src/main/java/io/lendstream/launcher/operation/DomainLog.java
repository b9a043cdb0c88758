package io.lendstream.launcher.operation;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.id.DomainId;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** The logs of domains with their snapshots, as far as they are kept. */
interface DomainLog {
    /**
     * The last usable snapshot of a domain; empty if there is none.
     *
     * @param upTo event sequence that it may contain at most
     */
    Optional<Snapshot> snapshot(DomainId domain, long upTo);

    /** Reads the log of a domain after an event, up to its present end, until the caller has enough. */
    void replay(DomainId domain, long after, Consumer<DomainEvent> to, BooleanSupplier enough);

    /** One event of a domain; empty if the log no longer has it. */
    Optional<DomainEvent> event(DomainId domain, long sequence);

    /** The first event of a domain that the log still has. */
    Optional<DomainEvent> firstEvent(DomainId domain);
}

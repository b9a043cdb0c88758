package io.lendstream.launcher.operation;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.id.DomainId;
import java.time.Instant;
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

    /**
     * A snapshot from before a time, about twice as far back as needed at most. If none is so old: none where the log
     * has its beginning, and otherwise the oldest.
     */
    default Optional<Snapshot> snapshotBefore(DomainId domain, Instant time) {
        Optional<Snapshot> found = snapshot(domain, Long.MAX_VALUE);
        long back = 1;
        while (found.filter(one -> one.state().now().isAfter(time)).isPresent()) {
            Optional<Snapshot> older = snapshot(domain, found.get().sequence() - back);
            if (older.isPresent()) {
                found = older;
                back *= 2;
            } else if (firstEvent(domain).filter(first -> first.sequence() == 1).isPresent()) {
                return Optional.empty();
            } else if (back > 1) {
                back /= 2;
            } else {
                return found;
            }
        }
        return found;
    }

    /** Reads the log of a domain after an event, up to its present end, until the caller has enough. */
    void replay(DomainId domain, long after, Consumer<DomainEvent> to, BooleanSupplier enough);

    /** One event of a domain; empty if the log no longer has it. */
    Optional<DomainEvent> event(DomainId domain, long sequence);

    /** The first event of a domain that the log still has. */
    Optional<DomainEvent> firstEvent(DomainId domain);
}

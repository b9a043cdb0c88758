package io.lendstream.load;

import io.lendstream.core.event.Event;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A workload in progress: jobs and requests that react to decisions. */
interface Play {
    /** The events after the last call and up to {@code to}, in time order. */
    List<Event> advance(Instant to);

    /** The time of the next event. */
    Optional<Instant> nextEventAt();

    /** Applies a node, a decision, a report or a lease; other records are ignored. */
    void take(Object record);

    /** Whether the workload has ended. */
    boolean finished();

    /** The progress, from 0 to 1. */
    double share();

    /** The progress, for people. */
    String progress();
}

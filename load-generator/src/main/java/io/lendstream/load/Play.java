package io.lendstream.load;

import io.lendstream.core.event.Event;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A workload being played: jobs that make progress and requests that arrive, answering to what is decided. */
interface Play {
    /** Everything that happens after the last call and up to {@code to}, in time order. */
    List<Event> advance(Instant to);

    /** When something next happens by itself. */
    Optional<Instant> nextEventAt();

    /** Learns of a node, a decision or a report; of anything else it takes no notice. */
    void take(Object record);

    /** Whether everything that was to happen has happened. */
    boolean finished();

    /** How far it has got, from 0 to 1. */
    double share();

    /** How far it has got, for people. */
    String progress();
}

package io.lendstream.core.history;

import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.state.ClusterState;

/**
 * The state of a domain after an event of its log, from which the rest of the log can be replayed.
 *
 * @param scheduler the scheduler in office then, as its start in the log describes it
 * @param version the version of the program that wrote it; for people
 */
public record Snapshot(SchedulerStarted scheduler, ClusterState state, String version) {
    public DomainId domain() {
        return state.domain();
    }

    /** Sequence of the last event that it contains. */
    public long sequence() {
        return state.eventSequence();
    }
}

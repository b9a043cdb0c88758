package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.state.ClusterState;

/**
 * One of the rules that a history is checked by, or a few about the same thing. An event of the log passes through the
 * methods in the order in which they stand here.
 */
interface HistoryRule {
    /**
     * Takes the next event of the log, before it is replayed.
     *
     * @param state as the event found it
     */
    default void before(DomainEvent event, ClusterState state) {}

    /** Takes what the event led to. */
    default void take(ReplayedEvent replayed) {}

    /** Takes a decision that the event led to. */
    default void decided(Decision decision, ReplayedEvent replayed) {}

    /** Takes what the event led to, after all its decisions. */
    default void settled(ReplayedEvent replayed) {}

    /** Takes a report as it stands on {@code actuation-reports}, after the log. */
    default void heard(ActuationReport report) {}

    /** Judges the history as a whole. */
    default void end(HistoryEnd end) {}
}

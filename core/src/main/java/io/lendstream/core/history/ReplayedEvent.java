package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterState;
import java.util.List;

/**
 * An event of the log with what it led to.
 *
 * @param scheduler the one that the event was replayed with
 */
record ReplayedEvent(DomainEvent event, Scheduler scheduler, Step step) {
    /** The state after the event. */
    ClusterState state() {
        return step.state();
    }

    List<Decision> decisions() {
        return step.decisions();
    }

    Step.Changed changed() {
        return step.changed();
    }

    /** Whether a GPU was put out of service. */
    boolean hasQuarantined() {
        return changed().owners().stream()
                .flatMap(gpu -> state().gpus().get(gpu).stream())
                .anyMatch(gpu -> gpu.owner().isQuarantined());
    }
}

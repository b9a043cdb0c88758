package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

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

    /** The units that some of the event's decisions bind. */
    List<GpuState> bound(Predicate<Decision> which) {
        Set<DecisionId> binding =
                decisions().stream().filter(which).map(Decision::id).collect(Collectors.toSet());
        List<GpuState> bound = new ArrayList<>();
        for (GpuId id : changed().owners()) {
            state().gpus()
                    .get(id)
                    .filter(unit -> unit.owner()
                            .asBinding()
                            .filter(owner -> binding.contains(owner.decision()))
                            .isPresent())
                    .ifPresent(bound::add);
        }
        return bound;
    }

    /** Whether a GPU was put out of service. */
    boolean hasQuarantined() {
        return changed().owners().stream()
                .flatMap(gpu -> state().gpus().get(gpu).stream())
                .anyMatch(gpu -> gpu.owner().isQuarantined() && !gpu.owner().isForeign());
    }
}

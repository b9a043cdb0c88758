package io.lendstream.core.actuation;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.JobChange;
import io.lendstream.core.id.GpuId;
import java.util.Collection;
import java.util.List;

/** The part of a decision that this actuator executes: that about the units of its own nodes. */
final class DecisionScope {
    private final ActuationState state;

    DecisionScope(ActuationState state) {
        this.state = state;
    }

    /**
     * Whether a decision is about this actuator at all: it names one of its units, changes a job that has one, is to
     * have one or is paused here, or is about no unit or job. Other actuators answer for other decisions.
     */
    boolean concerns(Decision decision) {
        if (!state.inventory().isScoped()) {
            return true;
        }
        List<GpuId> named = decision.action().gpus();
        List<GpuId> allocated = decision.action()
                .jobChange()
                .map(JobChange::allocation)
                .map(Allocation::gpus)
                .orElse(List.of());
        boolean isOfJob = decision.action().jobChange().isPresent();
        return (named.isEmpty() && !isOfJob)
                || !own(named).isEmpty()
                || !own(allocated).isEmpty()
                || decision.action()
                        .match(new TenantOf())
                        .filter(tenant ->
                                !state.held(tenant).isEmpty() || state.orders().isPaused(tenant))
                        .filter(any -> isOfJob)
                        .isPresent();
    }

    /** The units that are not on nodes of other actuators; units of unknown nodes are among them. */
    List<GpuId> own(Collection<GpuId> units) {
        if (!state.inventory().isScoped()) {
            return List.copyOf(units);
        }
        return units.stream().filter(unit -> !state.inventory().isOutside(unit)).toList();
    }
}

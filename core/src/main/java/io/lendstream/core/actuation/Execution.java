package io.lendstream.core.actuation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.id.GpuId;
import java.util.List;

/**
 * How accepted decisions are carried out: at computed times in simulation ({@link TimedExecution}), or by a driver that
 * reports what it has done ({@link DrivenExecution}).
 */
sealed interface Execution permits TimedExecution, DrivenExecution {
    /** The execution that a timing asks for. */
    static Execution of(ActuationState state, ChangeTiming timing) {
        return timing.isDriven() ? new DrivenExecution(state) : new TimedExecution(state, timing);
    }

    /** Starts a change of a tenant. */
    void start(AcceptedChange accepted);

    /** Starts to take GPUs back whose lease is over. */
    void endLease(UnitRelease release);

    /**
     * Starts to change the MIG instances of a GPU.
     *
     * @param places the instances that it is to have, by profile and place
     * @param going the GPU, and its instances that are destroyed
     */
    void cut(Decision decision, GpuId gpu, List<String> places, List<GpuId> going);

    /** Starts to change how a service batches. */
    void batch(Decision decision, Action.Batching batching, List<ActuationReport> reports);
}

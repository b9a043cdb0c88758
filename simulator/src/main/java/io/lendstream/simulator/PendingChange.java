package io.lendstream.simulator;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import java.util.function.UnaryOperator;

/**
 * A change of a job that is not in force for all of its GPUs yet.
 *
 * @param allocation what the job is to have
 * @param changesGpus whether it stands still meanwhile
 * @param isApplied whether the change is in force, although a gang still waits for GPUs of it
 */
record PendingChange(DecisionId decision, Allocation allocation, boolean changesGpus, boolean isApplied) {
    /** The same by other names of GPUs. */
    PendingChange renamed(UnaryOperator<GpuId> names) {
        return new PendingChange(decision, allocation.renamed(names), changesGpus, isApplied);
    }
}

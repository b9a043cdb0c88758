package io.lendstream.simulator;

import io.lendstream.core.id.GpuId;
import java.util.Collection;
import java.util.Collections;
import java.util.Set;

/**
 * The work of a paused job in the memory of a node, which is lost with the node.
 *
 * @param units the GPUs that the job had there
 * @param savedProgress its progress at its last checkpoint
 * @param savedEpoch its epoch then
 */
record PausedWork(Set<GpuId> units, double savedProgress, int savedEpoch) {
    PausedWork {
        units = Set.copyOf(units);
    }

    /** Whether it is on the node of some GPUs. */
    boolean isWith(Collection<GpuId> gpus) {
        return !Collections.disjoint(units, gpus);
    }
}

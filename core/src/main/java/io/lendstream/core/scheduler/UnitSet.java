package io.lendstream.core.scheduler;

import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.state.GpuState;
import java.util.List;
import java.util.Optional;

/**
 * Units on which a replica of a shape can run, once they are free.
 *
 * @param kind the kind of all of them
 * @param isFree whether a replica can be started on them now
 */
record UnitSet(ReplicaShape shape, Optional<KindId> kind, List<GpuState> units, boolean isFree) {
    UnitSet {
        units = List.copyOf(units);
    }

    List<GpuId> gpus() {
        return units.stream().map(GpuState::gpuId).toList();
    }
}

package io.lendstream.core.state;

import io.lendstream.core.id.ServiceId;
import java.util.List;
import java.util.Optional;

/**
 * A replica of a service that is warm: of one whole GPU, or of several units that are all there.
 *
 * @param group what it is put together to; empty for a replica of one GPU
 * @param units by name
 */
public record WarmReplica(ServiceId service, Optional<ReplicaGroup> group, List<GpuState> units) {
    public WarmReplica {
        units = List.copyOf(units);
    }

    /** Its first unit. */
    public GpuState first() {
        return units.get(0);
    }

    public boolean isSleeping() {
        return units.stream().allMatch(unit -> unit.owner().isSleeping());
    }

    public boolean isServing() {
        return units.stream().anyMatch(unit -> unit.owner().isServing());
    }
}

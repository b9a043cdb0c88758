package io.lendstream.core.state;

import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import java.util.Optional;

/**
 * Units that a driver may take for each other: those of one node, kind, pool and profile.
 *
 * @param kind empty if kinds are not told apart
 * @param profile of MIG instances; empty for whole GPUs
 */
public record SlotClass(NodeId node, Optional<KindId> kind, Pool pool, Optional<String> profile) {
    public static SlotClass of(GpuState unit) {
        return new SlotClass(
                unit.nodeId(), unit.kind(), unit.pool(), unit.instance().map(MigInstance::profile));
    }

    /** Whether a unit is one of them. */
    public boolean has(GpuState unit) {
        return node.equals(unit.nodeId()) && equals(of(unit));
    }
}

package io.lendstream.core.scheduler;

import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.GpuState;

/**
 * A unit that another node reports than the one that it is known on, as after a change of a node's name. Without a
 * tenant it goes to that node, and is judged there as a new one; while both nodes report, it is not given away.
 */
record MovedUnits(StepBuilder builder, InventoryApplier inventory) {
    void reported(GpuState unit, Node node) {
        if (!inventory.rules().isStrict()
                || unit.nodeId().equals(node.nodeId())
                || node.status() != NodeStatus.READY
                || unit.owner().holder().isPresent()
                || unit.owner().isRecutting()) {
            return;
        }
        GpuId id = unit.gpuId();
        builder.invalidatePlan();
        if (UserSamples.isHeard(builder, unit)) {
            inventory.quarantine(
                    unit,
                    "nodes %s and %s both report it: give each machine a name of its own, and run one agent on it"
                            .formatted(unit.nodeId(), node.nodeId()));
            return;
        }
        builder.describe(builder.entities().pooled(unit.on(node.nodeId())));
        if (unit.isFree() || unit.owner().isForeign()) {
            builder.own(id, inventory.unseen());
        }
    }
}

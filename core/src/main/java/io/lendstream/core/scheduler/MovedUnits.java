package io.lendstream.core.scheduler;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.GpuState;

/**
 * A unit that another node reports than the one that it is known on, as after a change of a node's name. Without a
 * tenant it goes to that node, and is judged there as a new one; while both nodes report, it is not given away.
 */
record MovedUnits(StepBuilder builder, InventoryApplier inventory) {
    /** Judges all units of a node's report, which is applied already. */
    void reportedBy(Node node) {
        if (!inventory.rules().isStrict() || node.status() != NodeStatus.READY) {
            return;
        }
        for (Gpu gpu : node.gpus()) {
            if (gpu.migEnabled()) {
                gpu.instances().forEach(instance -> reported(instance.gpuId(), node));
            } else {
                reported(gpu.gpuId(), node);
            }
        }
    }

    private void reported(GpuId id, Node node) {
        builder.gpus().get(id).ifPresent(unit -> reported(unit, node));
    }

    private void reported(GpuState unit, Node node) {
        if (unit.nodeId().equals(node.nodeId())
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

package io.lendstream.core.scheduler;

import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.NodeGpuKey;
import io.lendstream.core.state.SlotKnowledge;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds from samples of agents which units tenants have whose driver does not choose units. It looks only for tenants
 * of that node whose unit is not known, by the user under which the agent shows them.
 */
record SlotSamples(StepBuilder builder, InventoryApplier inventory) {
    void take(GpuTelemetry telemetry) {
        if (builder.clusterIndex().gpus().unplaced().isEmpty()
                || unplaced(telemetry.nodeId()).isEmpty()) {
            return;
        }
        List<GpuSample> elsewhere = new ArrayList<>();
        for (GpuSample sample : telemetry.gpus()) {
            if (sample.usedBy().isPresent() && !isConfirmed(sample)) {
                elsewhere.add(sample);
            }
        }
        for (GpuSample sample : elsewhere) {
            for (String user : sample.usedBy().orElse(List.of())) {
                builder.gpus().get(sample.gpuId()).ifPresent(found -> found(user, found, telemetry.at()));
            }
        }
    }

    /** The units of a node whose tenants may have other units, by name. */
    private List<GpuState> unplaced(NodeId node) {
        PersistentMap<NodeGpuKey, GpuState> all = builder.clusterIndex().gpus().unplaced();
        List<GpuState> units = new ArrayList<>();
        for (Map.Entry<NodeGpuKey, GpuState> unit : all.from(seat -> seat.node().compareTo(node) >= 0)) {
            if (!unit.getKey().node().equals(node)) {
                break;
            }
            units.add(unit.getValue());
        }
        return units;
    }

    /** Takes in that a tenant has the very unit that names its slot; whether it has. */
    private boolean isConfirmed(GpuSample sample) {
        Optional<GpuState> unit = builder.gpus().get(sample.gpuId());
        for (String user : sample.usedBy().orElse(List.of())) {
            if (unit.isPresent() && isSlotOf(user, unit.get())) {
                see(unit.get());
                return true;
            }
        }
        return false;
    }

    private static boolean isSlotOf(String user, GpuState unit) {
        return unit.isSlot() && unit.user().filter(user::equals).isPresent();
    }

    /** The tenant was seen on the unit itself. */
    private void see(GpuState unit) {
        builder.describe(unit.placed(unit.slot().map(SlotKnowledge::seen)));
    }

    private void found(String user, GpuState found, Instant at) {
        if (isSlotOf(user, found)) {
            see(found);
            return;
        }
        for (GpuState slot : unplaced(found.nodeId())) {
            if (isSlotOf(user, slot)) {
                place(slot, found, at);
                return;
            }
        }
    }

    /**
     * Takes in that the tenant of a slot was seen on another unit. If that is surely another tenant's, it is put out of
     * service.
     */
    private void place(GpuState slot, GpuState found, Instant at) {
        UnitExchange exchange = new UnitExchange(builder);
        Tenant tenant = slot.owner().holder().orElseThrow();
        if (found.isHeldBy(tenant)) {
            boolean isOpen =
                    found.isSlot() && found.owner().isUp() && slot.owner().isUp();
            if (isOpen && UnitExchange.isOfOneClass(slot, found)) {
                builder.describe(found.placed(slot.slot().map(SlotKnowledge::seen)));
                builder.describe(slot.placed(found.slot())); // both have the same tenant
            }
        } else if (exchange.isAllowed(slot, found, at)) {
            exchange.exchange(slot.gpuId(), found.gpuId());
            see(builder.gpu(found.gpuId()));
        } else if (found.owner().isUp() && !found.isSlot() && at.isAfter(found.since())) {
            inventory.quarantine(
                    found,
                    "an agent finds %s running on it, where %s was decided; stop what should not run there, then reset it"
                            .formatted(tenant, SlotReports.holder(found)));
        }
    }
}

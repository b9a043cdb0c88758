package io.lendstream.core.scheduler;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.SlotClass;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Compares the regular report of an actuator whose driver does not choose units with the state: by the number of units
 * of each class that a tenant has, and never by names.
 */
record SlotCounts(StepBuilder builder, InventoryApplier inventory) {
    /**
     * Compares all units of a tenant that an actuator knows. A class is left out while a unit of it is in transfer, or
     * if one got its owner after the report.
     */
    void compare(ActuationReport report, Tenant tenant) {
        Map<SlotClass, Integer> reported = new LinkedHashMap<>();
        for (GpuId id : held(tenant)) {
            builder.gpus().get(id).ifPresent(unit -> reported.putIfAbsent(SlotClass.of(unit), 0));
        }
        for (GpuId id : report.gpus()) {
            builder.gpus().get(id).ifPresent(unit -> reported.merge(SlotClass.of(unit), 1, Integer::sum));
        }
        reported.forEach((like, count) -> compare(report, tenant, units(like), count));
    }

    private void compare(ActuationReport report, Tenant tenant, List<GpuState> units, int reported) {
        List<GpuState> held = new ArrayList<>();
        List<GpuState> free = new ArrayList<>();
        for (GpuState unit : units) {
            if (!isSettledBefore(unit, report.at())) {
                return;
            }
            if (unit.isHeldBy(tenant)) {
                held.add(unit);
            } else if (unit.isFree()) {
                free.add(unit);
            }
        }
        int missing = held.size() - reported;
        if (missing > 0) {
            free(tenant, missing, leavable(report.actuator(), held));
        }
        if (missing < 0 && !free.isEmpty()) {
            String why =
                    "actuator %s finds more of %s on node %s than was decided; stop what should not run there, then reset it"
                            .formatted(report.actuator(), tenant, free.get(0).nodeId());
            int more = -missing - countOut(units, why);
            for (int i = 0; i < Math.min(free.size(), more); i++) {
                inventory.quarantine(free.get(i), why);
            }
        }
    }

    /** Units that earlier reports have put out of service for the same cause. */
    private static int countOut(List<GpuState> units, String why) {
        int out = 0;
        for (GpuState unit : units) {
            out += unit.owner()
                            .asQuarantined()
                            .filter(owner -> owner.reason().equals(why))
                            .isPresent()
                    ? 1
                    : 0;
        }
        return out;
    }

    private void free(Tenant tenant, int count, List<GpuState> candidates) {
        for (GpuState unit : candidates.subList(0, Math.min(count, candidates.size()))) {
            builder.invalidatePlan();
            inventory.left(unit);
            new UnitExchange(builder).forgetPlaces(tenant, SlotClass.of(unit));
        }
    }

    /**
     * The units that an actuator may report as left: only that which bound a unit can tell. Those of which it is not
     * known that the tenant is there come first, the last names first.
     */
    private static List<GpuState> leavable(String actuator, List<GpuState> held) {
        List<GpuState> leavable = new ArrayList<>();
        for (GpuState unit : held) {
            if (unit.slot().isPresent()
                    && unit.boundBy().filter(actuator::equals).isPresent()) {
                leavable.add(unit);
            }
        }
        leavable.sort(Comparator.comparing(GpuState::isSlot).thenComparing(GpuState::gpuId));
        Collections.reverse(leavable);
        return leavable;
    }

    private static boolean isSettledBefore(GpuState unit, Instant at) {
        return !unit.owner().isInTransfer() && !unit.owner().isRecutting() && at.isAfter(unit.since());
    }

    /** The units of a class, by name. */
    private List<GpuState> units(SlotClass like) {
        List<GpuState> units = new ArrayList<>();
        for (GpuState unit : new UnitsByNode(builder).on(like.node())) {
            if (like.has(unit)) {
                units.add(unit);
            }
        }
        return units;
    }

    private List<GpuId> held(Tenant tenant) {
        return tenant.match(Tenant.Cases.of(
                job -> builder.jobs()
                        .get(job.job())
                        .map(known -> known.allocation().gpus())
                        .orElse(List.of()),
                service -> replicas(service.service())));
    }

    private List<GpuId> replicas(ServiceId service) {
        return builder.clusterIndex().gpus().replicasOf(service).stream()
                .map(replica -> replica.getKey().gpu())
                .toList();
    }
}

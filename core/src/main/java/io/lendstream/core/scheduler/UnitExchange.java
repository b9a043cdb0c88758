package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.SlotClass;
import io.lendstream.core.state.SlotKnowledge;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Exchanges the owners of two units where names stand for slots: a tenant was found on another unit than the named one.
 * Both units and all names of them change in one step, so that no tenant has more or fewer units of a node, kind, pool
 * and profile than before.
 */
record UnitExchange(StepBuilder builder) {
    /**
     * Whether the tenant of a unit, who was found on another one, may change places with the owner there.
     *
     * @param slot the unit of which it is known that its name stands for a slot
     * @param found the unit on which its tenant was found
     * @param seen the time of the evidence
     */
    boolean isAllowed(GpuState slot, GpuState found, Instant seen) {
        return isOfOneClass(slot, found)
                && isExchangeable(slot)
                && isExchangeable(found)
                && (found.isSlot() || found.isFree() || found.owner().isInTransfer())
                && isNewer(seen, slot)
                && isNewer(seen, found);
    }

    static boolean isOfOneClass(GpuState one, GpuState other) {
        return SlotClass.of(one).has(other);
    }

    private static boolean isExchangeable(GpuState unit) {
        return !unit.owner().isQuarantined() && !unit.owner().isRecutting();
    }

    /** Whether evidence is as new as the owner of a unit. One event may say several things about a unit. */
    boolean isNewer(Instant seen, GpuState unit) {
        return !seen.isBefore(unit.since()) || unit.changedBy() == builder.eventSequence();
    }

    /** Exchanges the owners of two units, with all names of them. */
    void exchange(GpuId one, GpuId other) {
        GpuState first = builder.gpu(one);
        GpuState second = builder.gpu(other);
        builder.describe(first.takingOver(second, builder.now(), builder.eventSequence()));
        builder.describe(second.takingOver(first, builder.now(), builder.eventSequence()));
        builder.invalidatePlan();
        Set<Tenant> tenants = new LinkedHashSet<>();
        first.owner().holder().ifPresent(tenants::add);
        second.owner().holder().ifPresent(tenants::add);
        if (!builder.promises().isEmpty()) {
            tenants.addAll(builder.promises().exchange(one, other));
        }
        for (Tenant tenant : tenants) {
            rename(tenant, one, other);
        }
    }

    /** A tenant has fewer units of a class, and it is not known which one it left. */
    void forgetPlaces(Tenant tenant, SlotClass like) {
        for (GpuState unit : new UnitsByNode(builder).on(like.node())) {
            if (unit.isHeldBy(tenant) && unit.slot().isPresent() && !unit.isSlot() && like.has(unit)) {
                builder.describe(unit.placed(Optional.of(SlotKnowledge.slot(unit.user()))));
            }
        }
    }

    /** Names two units for each other in what is decided for a tenant. */
    void rename(Tenant tenant, GpuId one, GpuId other) {
        tenant.jobId().flatMap(builder.jobs()::get).ifPresent(job -> builder.put(job.exchanging(one, other)));
        tenant.serviceId()
                .flatMap(builder.services()::get)
                .filter(service -> service.batches().isPresent())
                .ifPresent(service -> builder.put(service.exchanging(one, other)));
    }
}

package io.lendstream.core.actuation;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;

/**
 * Units that jobs left by themselves, until a decision shows that the scheduler knows. An older decision may still
 * count on such a unit, and must not bring the job back to a unit that the scheduler is about to take as free.
 */
final class VacatedUnits {
    private final Map<GpuId, Tenant> units = new TreeMap<>();

    void add(Tenant tenant, Collection<GpuId> left) {
        left.forEach(unit -> units.put(unit, tenant));
    }

    boolean wereOf(Tenant tenant, GpuId unit) {
        return tenant.equals(units.get(unit));
    }

    /**
     * A decision shows for some of them that the scheduler knows.
     *
     * @param all the units that the job is to have
     * @param named the units that the decision names
     */
    void acknowledge(Tenant job, Collection<GpuId> all, Collection<GpuId> named) {
        units.entrySet()
                .removeIf(unit ->
                        unit.getValue().equals(job) && (!all.contains(unit.getKey()) || named.contains(unit.getKey())));
    }

    /** These units have a tenant again. */
    void reuse(Collection<GpuId> used) {
        used.forEach(units::remove);
    }
}

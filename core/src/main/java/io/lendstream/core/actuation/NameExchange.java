package io.lendstream.core.actuation;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Two names of units that stand for each other from now on, where a driver does not choose units.
 *
 * @param ofOne the tenant that had {@code one} before, if any
 * @param ofOther the tenant that had {@code other} before, if any
 */
public record NameExchange(GpuId one, Optional<Tenant> ofOne, GpuId other, Optional<Tenant> ofOther) {
    /** The tenants whose units have other names afterwards. */
    public List<Tenant> tenants() {
        List<Tenant> tenants = new ArrayList<>();
        ofOne.ifPresent(tenants::add);
        ofOther.filter(tenant -> !tenants.contains(tenant)).ifPresent(tenants::add);
        return tenants;
    }

    /** The name that a unit of a tenant has afterwards. */
    public GpuId renamed(Tenant tenant, GpuId unit) {
        if (unit.equals(one)) {
            return has(ofOne, tenant) ? other : unit;
        }
        return unit.equals(other) && has(ofOther, tenant) ? one : unit;
    }

    private static boolean has(Optional<Tenant> holder, Tenant tenant) {
        return holder.isPresent() && holder.get().equals(tenant);
    }
}

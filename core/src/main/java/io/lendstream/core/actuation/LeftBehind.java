package io.lendstream.core.actuation;

import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** What runs on where a tenant has left that something else had started. Asked before its GPUs are freed. */
record LeftBehind(ActuationState state) {
    /** By the names of all that was taken over on some units. */
    List<FoundTenant> of(Tenant tenant, Collection<GpuId> units) {
        return state.adopted(units).stream()
                .flatMap(each -> each.units().stream()
                        .flatMap(gpu -> state.inventory().nodeOf(gpu).stream())
                        .distinct()
                        .map(node -> new FoundTenant(node, each.user(), List.of(tenant), Optional.empty(), "")))
                .toList();
    }
}

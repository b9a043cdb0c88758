package io.lendstream.core.actuation;

import io.lendstream.core.decision.Adopted;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The change of a tenant's GPUs by a decision. Each GPU that the decision names is in one of the lists.
 *
 * @param kept GPUs that the tenant has and keeps
 * @param leaving GPUs that the tenant has and is to leave
 * @param gained GPUs that the tenant is to get
 * @param alreadyLeaving named GPUs that the tenant is already leaving
 * @param free named GPUs that are free
 * @param foreign named GPUs that another tenant has
 * @param givenUp what something else has started and the tenant has, on GPUs of which the decision knows nothing: an
 *     adoption that was undone elsewhere. It is not the tenant's any more, and goes on
 */
record TenantChange(
        Tenant tenant,
        List<GpuId> kept,
        List<GpuId> leaving,
        List<GpuId> gained,
        List<GpuId> alreadyLeaving,
        List<GpuId> free,
        List<GpuId> foreign,
        List<Adopted> givenUp) {
    TenantChange {
        kept = List.copyOf(kept);
        leaving = List.copyOf(leaving);
        gained = List.copyOf(gained);
        alreadyLeaving = List.copyOf(alreadyLeaving);
        free = List.copyOf(free);
        foreign = List.copyOf(foreign);
        givenUp = List.copyOf(givenUp);
    }

    /**
     * The change of a tenant that keeps some of its GPUs, leaves the rest, and gets other GPUs.
     *
     * @param named the GPUs that the decision asks to release or to bind
     * @param kept some of the GPUs that the tenant has and is not leaving
     */
    static TenantChange of(
            Holdings holdings, Tenant tenant, List<GpuId> named, Collection<GpuId> kept, List<GpuId> gained) {
        var leaving = new TreeSet<>(holdings.active(tenant));
        leaving.removeAll(kept);
        List<Adopted> givenUp = holdings.adopted(leaving).stream()
                .filter(each -> Stream.of(named, kept, gained)
                        .flatMap(Collection::stream)
                        .noneMatch(each.units()::contains))
                .toList();
        givenUp.forEach(each -> leaving.removeAll(each.units()));
        var alreadyLeaving = new ArrayList<GpuId>();
        var free = new ArrayList<GpuId>();
        var foreign = new ArrayList<GpuId>();
        for (GpuId gpu : named) {
            if (kept.contains(gpu) || leaving.contains(gpu) || gained.contains(gpu)) {
                continue;
            }
            Optional<Holding> holding = holdings.of(gpu);
            if (holding.isEmpty()) {
                free.add(gpu);
            } else if (holding.get().tenant().equals(tenant)) {
                alreadyLeaving.add(gpu);
            } else {
                foreign.add(gpu);
            }
        }
        return new TenantChange(
                tenant, List.copyOf(kept), List.copyOf(leaving), gained, alreadyLeaving, free, foreign, givenUp);
    }

    /** The GPUs that are not as before afterwards, or are free already; sorted. */
    SortedSet<GpuId> changing() {
        var changing = new TreeSet<>(leaving);
        changing.addAll(gained);
        changing.addAll(alreadyLeaving);
        changing.addAll(free);
        return changing;
    }

    /** Whether the tenant leaves a GPU, is leaving one, or has left one that the decision asks to release. */
    boolean givesUp() {
        return !leaving.isEmpty() || !alreadyLeaving.isEmpty() || !free.isEmpty();
    }

    /** Whether the decision only names GPUs of other tenants. */
    boolean isForeignOnly() {
        return !foreign.isEmpty() && changing().isEmpty();
    }

    /** How many GPUs the tenant has before. */
    int before() {
        return kept.size() + leaving.size();
    }

    /** How many GPUs the tenant has afterwards. */
    int after() {
        return kept.size() + gained.size();
    }
}

package io.lendstream.core.actuation;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** What drivers have to bring about or keep, and the orders that were not given to them yet. */
final class DriverOrders {
    private final Map<Tenant, Order.Place> places = new HashMap<>();
    private final SortedMap<GpuId, Order.Cut> cuts = new TreeMap<>();
    private final List<Order> waiting = new ArrayList<>();

    /** Continues with saved orders, which were given before. */
    void restore(Collection<Order.Place> savedPlaces, Collection<Order.Cut> savedCuts) {
        savedPlaces.forEach(place -> places.put(place.tenant(), place));
        savedCuts.forEach(cut -> cuts.put(cut.gpu(), cut));
    }

    /** The last order about a tenant. */
    Optional<Order.Place> place(Tenant tenant) {
        return Optional.ofNullable(places.get(tenant));
    }

    /** Whether a tenant is a job whose last order is to stay in host memory. */
    boolean isPaused(Tenant tenant) {
        return place(tenant)
                .flatMap(Order.Place::allocation)
                .filter(Allocation::isPaused)
                .isPresent();
    }

    /** A tenant was killed: nothing of it is in host memory. */
    void endPause(Tenant tenant) {
        place(tenant)
                .filter(place -> isPaused(tenant))
                .ifPresent(place -> places.put(
                        tenant,
                        new Order.Place(
                                place.decision(),
                                tenant,
                                place.units(),
                                place.leaving(),
                                Optional.empty(),
                                place.by())));
    }

    /** The last order about each tenant. */
    Collection<Order.Place> places() {
        return Collections.unmodifiableCollection(places.values());
    }

    List<Order.Place> placesByDecision() {
        return places.values().stream()
                .sorted(Comparator.comparing(Order.Place::decision))
                .toList();
    }

    /** The cuts that are not finished, by GPU. */
    List<Order.Cut> cuts() {
        return List.copyOf(cuts.values());
    }

    /** Orders where a tenant is to run; replaces an order about it that was not given yet. */
    void add(Order.Place place) {
        waiting.removeIf(older ->
                older instanceof Order.Place earlier && earlier.tenant().equals(place.tenant()));
        places.put(place.tenant(), place);
        waiting.add(place);
    }

    void add(Order.Cut cut) {
        cuts.put(cut.gpu(), cut);
        waiting.add(cut);
    }

    void add(Order.Batch batch) {
        waiting.add(batch);
    }

    void add(Order.Force force) {
        waiting.add(force);
    }

    /** Names the units of the last order about a tenant by other names. It is no new order. */
    void rename(Tenant tenant, UnaryOperator<GpuId> names) {
        place(tenant).ifPresent(last -> {
            Order.Place renamed = last.renamed(names);
            places.put(tenant, renamed);
            waiting.replaceAll(order -> order.equals(last) ? renamed : order);
        });
    }

    /** Takes units out of the last order about a tenant. */
    void takeOut(Tenant tenant, Collection<GpuId> units) {
        place(tenant)
                .filter(place -> place.units().stream().anyMatch(units::contains))
                .ifPresent(place -> add(place.without(units)));
    }

    /** Units are gone: no tenant may run there, and they are not cut. */
    void lose(Collection<GpuId> units) {
        places.values()
                .removeIf(place ->
                        isPaused(place.tenant()) && place.leaving().stream().anyMatch(units::contains));
        places.replaceAll((tenant, place) -> place.without(units));
        units.forEach(this::endCut);
    }

    /** A tenant that has nothing any more is nothing to keep. */
    void forget(Tenant tenant) {
        places.remove(tenant);
    }

    /** A GPU is cut, or will not be. */
    void endCut(GpuId gpu) {
        cuts.remove(gpu);
    }

    /** The orders since the last call. */
    List<Order> take() {
        List<Order> taken = List.copyOf(waiting);
        waiting.clear();
        return taken;
    }
}

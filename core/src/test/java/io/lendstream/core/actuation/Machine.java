package io.lendstream.core.actuation;

import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.Tenant;
import io.lendstream.core.decision.DecisionId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/**
 * Units on which something may run, and a driver that brings about what it is ordered, in its own time. It is moved on second by
 * second, and keeps what would be an accident.
 */
final class Machine {
    private final Random random;
    private final double trouble;
    private final Map<GpuId, Tenant> running = new HashMap<>();
    private final Map<GpuId, Start> starts = new HashMap<>();
    private final Map<GpuId, Instant> stops = new HashMap<>();
    private final Set<GpuId> killed = new HashSet<>();
    private final Map<Tenant, Order.Place> wanted = new HashMap<>();
    private final Map<Tenant, DecisionId> unsettled = new HashMap<>();
    private final List<String> accidents = new ArrayList<>();

    private record Start(Tenant tenant, Instant at) {}

    /** @param trouble share of starts that come to nothing, and of stops that hang until they are forced */
    Machine(Random random, double trouble) {
        this.random = random;
        this.trouble = trouble;
    }

    List<String> accidents() {
        return List.copyOf(accidents);
    }

    Optional<Tenant> tenant(GpuId unit) {
        return Optional.ofNullable(running.get(unit));
    }

    /** Something ends that nobody asked to. */
    List<Deed> crash(GpuId unit) {
        Tenant tenant = running.remove(unit);
        stops.remove(unit);
        return tenant == null ? List.of() : List.of(new Deed.Left(tenant, List.of(unit), false, "it crashed"));
    }

    /** What is so at once. */
    List<Deed> take(Order order, Instant now) {
        List<Deed> deeds = new ArrayList<>();
        if (order instanceof Order.Place place) {
            wanted.put(place.tenant(), place);
            unsettled.put(place.tenant(), place.decision());
            starts.entrySet()
                    .removeIf(start -> start.getValue().tenant().equals(place.tenant())
                            && !place.units().contains(start.getKey()));
            for (GpuId unit : place.units()) {
                if (place.tenant().equals(running.get(unit))) {
                    deeds.add(new Deed.Came(place.tenant(), List.of(unit)));
                } else {
                    starts.computeIfAbsent(unit, any -> new Start(place.tenant(), later(now, 20)));
                }
            }
            for (GpuId unit : place.leaving()) {
                if (place.tenant().equals(running.get(unit))) {
                    stops.computeIfAbsent(unit, any -> later(now, 30));
                } else {
                    deeds.add(new Deed.Left(place.tenant(), List.of(unit), false, ""));
                }
            }
        } else if (order instanceof Order.Force force) {
            for (GpuId unit : force.units()) {
                if (starts.containsKey(unit) && starts.get(unit).tenant().equals(force.tenant())) {
                    starts.remove(unit);
                }
                if (force.tenant().equals(running.get(unit))) {
                    stops.put(unit, now.plusSeconds(1));
                    killed.add(unit);
                } else {
                    deeds.add(new Deed.Left(force.tenant(), List.of(unit), false, ""));
                }
            }
        }
        return deeds;
    }

    private Instant later(Instant now, int most) {
        return random.nextDouble() < trouble ? Instant.MAX : now.plusSeconds(random.nextInt(most));
    }

    /** What is done by now. */
    List<Deed> advance(Instant now) {
        List<Deed> deeds = new ArrayList<>();
        for (GpuId unit : RandomDecisions.GPUS) {
            Optional<Instant> stop = Optional.ofNullable(stops.get(unit)).filter(at -> !at.isAfter(now));
            if (stop.isPresent()) {
                stops.remove(unit);
                Tenant tenant = running.remove(unit);
                if (tenant != null) {
                    deeds.add(new Deed.Left(tenant, List.of(unit), killed.remove(unit), ""));
                }
            }
        }
        for (Order.Place place : List.copyOf(wanted.values())) {
            for (GpuId unit : place.units()) {
                Start start = starts.get(unit);
                if (start != null
                        && start.tenant().equals(place.tenant())
                        && !start.at().isAfter(now)) {
                    starts.remove(unit);
                    Tenant before = running.put(unit, place.tenant());
                    if (before != null && !before.equals(place.tenant())) {
                        accidents.add("%s starts on %s while %s runs there".formatted(place.tenant(), unit, before));
                    }
                    deeds.add(new Deed.Came(place.tenant(), List.of(unit)));
                }
            }
            boolean settled = place.units().stream()
                            .allMatch(unit -> place.tenant().equals(running.get(unit)))
                    && place.leaving().stream().noneMatch(unit -> place.tenant().equals(running.get(unit)));
            DecisionId decision = unsettled.get(place.tenant());
            if (settled && decision != null) {
                unsettled.remove(place.tenant());
                deeds.add(new Deed.Settled(place.tenant(), decision));
            }
        }
        return deeds;
    }
}

package io.lendstream.actuator.driver;

import io.lendstream.actuator.adoption.AdoptedTenant;
import io.lendstream.actuator.adoption.AdoptionHost;
import io.lendstream.actuator.jobs.ReplicaHost;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Adopted;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The replicas of services whose processes something else has started. */
final class AdoptedReplicas {
    private final AdoptionHost host;
    private final DriverListener driverListener;

    AdoptedReplicas(AdoptionHost host, DriverListener driverListener) {
        this.host = host;
        this.driverListener = driverListener;
    }

    /**
     * Takes over what an order names, and reports again what was taken over before.
     *
     * @param started what Lendstream has started
     * @return the units on which nothing must be started
     */
    Set<GpuId> takeOver(Order.Place place, List<ReplicaHost.Running> started) {
        Set<GpuId> units = new HashSet<>();
        String refused = "it has ended";
        for (Adopted each : place.adopted()) {
            units.addAll(each.units());
            Optional<String> refusal = conflict(each, place.tenant(), started)
                    .or(() -> host.adopt(place.decision(), place.tenant(), each.user(), each.units()));
            if (refusal.isPresent()) {
                refused = refusal.get();
            }
        }
        Set<GpuId> held = new HashSet<>();
        for (AdoptedTenant each : host.of(place.tenant())) {
            if (isUnknown(each, place)) {
                host.letGo(each);
                continue;
            }
            held.addAll(each.units());
            if (!host.isEnding(each)) {
                driverListener.tell(new DriverEvent.Started(place.tenant(), each.units()));
            }
        }
        units.removeIf(unit -> !place.units().contains(unit));
        List<GpuId> missing =
                units.stream().filter(unit -> !held.contains(unit)).toList();
        if (!missing.isEmpty()) {
            if (missing.containsAll(place.units())) { // a failure would end other replicas of the order that start
                driverListener.tell(new DriverEvent.Failed(place.tenant(), place.decision(), refused));
            }
            driverListener.tell(new DriverEvent.Stopped(place.tenant(), missing, false, refused));
        }
        units.addAll(held);
        return units;
    }

    /** Whether the sender of an order does not know a process, which its list has from a state that was lost. */
    private boolean isUnknown(AdoptedTenant each, Order.Place place) {
        return !each.isOnAnyOf(place.units()) && !each.isOnAnyOf(place.leaving()) && !host.isEnding(each);
    }

    private Optional<String> conflict(Adopted one, Tenant tenant, List<ReplicaHost.Running> started) {
        if (host.hasEnded(one.user())) {
            return Optional.of("%s has ended".formatted(one.user()));
        }
        return started.stream()
                .filter(each ->
                        tenant.serviceId().filter(each.service()::equals).isPresent())
                .filter(each -> each.gpus().stream().anyMatch(one.units()::contains))
                .findFirst()
                .map(each -> "%s is not taken over: Lendstream runs a replica of %s on %s already"
                        .formatted(one.user(), tenant, each.gpus()));
    }

    /** Sends SIGTERM to the replicas on units; returns the other units. */
    List<GpuId> end(Tenant tenant, Collection<GpuId> units) {
        on(tenant, units).forEach(each -> host.end(each, Optional.empty()));
        return others(tenant, units);
    }

    /**
     * Kills the replicas on units; returns the other units. An adoption that is undone by its own decision or one
     * before, without an order to leave, gives the process up instead.
     */
    List<GpuId> force(Order.Force force) {
        List<GpuId> others = others(force.tenant(), force.units());
        for (AdoptedTenant each : on(force.tenant(), force.units())) {
            if (!host.isEnding(each) && each.isUndoneBy(force.decision())) {
                host.letGo(each);
                driverListener.tell(
                        new DriverEvent.Stopped(force.tenant(), each.units(), false, "given up; it runs on"));
            } else {
                host.kill(each);
            }
        }
        return others;
    }

    /** All that run, also those that are to end. */
    List<ReplicaHost.Running> running(Tenant.Service tenant) {
        return host.of(tenant).stream()
                .map(each -> new ReplicaHost.Running(tenant.service(), each.units(), !host.isEnding(each)))
                .toList();
    }

    private List<AdoptedTenant> on(Tenant tenant, Collection<GpuId> units) {
        return host.of(tenant).stream().filter(each -> each.isOnAnyOf(units)).toList();
    }

    private List<GpuId> others(Tenant tenant, Collection<GpuId> units) {
        List<AdoptedTenant> all = on(tenant, units);
        return units.stream()
                .filter(unit -> all.stream().noneMatch(each -> each.units().contains(unit)))
                .toList();
    }
}

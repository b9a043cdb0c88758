package io.lendstream.core.simulated;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.ExpectedEvent;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;

/** The events that a simulated driver will report, in the order of their times. */
final class ExpectedEvents {
    private final TreeSet<ExpectedEvent> events = new TreeSet<>();
    private long nextOrder;

    void restore(Collection<ExpectedEvent> saved) {
        events.addAll(saved);
        saved.forEach(event -> nextOrder = Math.max(nextOrder, event.order() + 1));
    }

    List<ExpectedEvent> all() {
        return List.copyOf(events);
    }

    Optional<ExpectedEvent> next() {
        return events.isEmpty() ? Optional.empty() : Optional.of(events.first());
    }

    /** Removes and returns the next event. */
    DriverEvent takeNext() {
        return Optional.ofNullable(events.pollFirst()).orElseThrow().event();
    }

    void add(Instant at, DriverEvent event) {
        events.add(new ExpectedEvent(at, nextOrder++, event));
    }

    /** When a tenant is up, or has failed to start, on the last of the units on which it starts. */
    Optional<Instant> lastStart(Tenant tenant) {
        return events.stream()
                .filter(event -> (event.event() instanceof DriverEvent.Started started
                                && started.tenant().equals(tenant))
                        || (event.event() instanceof DriverEvent.Failed failed
                                && failed.tenant().equals(tenant)))
                .reduce((earlier, later) -> later)
                .map(ExpectedEvent::at);
    }

    /** When the last change of a tenant is in force. */
    Optional<Instant> lastInForce(Tenant tenant) {
        return inForce(tenant).reduce((earlier, later) -> later).map(ExpectedEvent::at);
    }

    /** An expected change is superseded by a later one of the same domain. */
    void supersede(Tenant tenant, DomainId domain) {
        inForceBy(tenant, domain).forEach(events::remove);
    }

    /** A change that was to be in force is not so before this time. */
    void delay(Tenant tenant, DomainId domain, Instant until) {
        for (ExpectedEvent event : inForceBy(tenant, domain)) {
            if (event.at().isBefore(until)) {
                events.remove(event);
                events.add(new ExpectedEvent(until, event.order(), event.event()));
            }
        }
    }

    private List<ExpectedEvent> inForceBy(Tenant tenant, DomainId domain) {
        return inForce(tenant)
                .filter(event -> event.event() instanceof DriverEvent.InForce inForce
                        && inForce.decision().domain().equals(domain))
                .toList();
    }

    private Stream<ExpectedEvent> inForce(Tenant tenant) {
        return events.stream()
                .filter(event -> event.event() instanceof DriverEvent.InForce inForce
                        && inForce.tenant().equals(tenant));
    }

    /** Takes units out of all expected events of a tenant's starts and stops. */
    void withdraw(Tenant tenant, Collection<GpuId> units) {
        if (units.isEmpty()) {
            return;
        }
        Set<GpuId> gone = Set.copyOf(units);
        for (ExpectedEvent event : new ArrayList<>(events)) {
            if (event.event() instanceof DriverEvent.Started started
                    && started.tenant().equals(tenant)) {
                replace(event, started.units(), gone, rest -> new DriverEvent.Started(tenant, rest));
            } else if (event.event() instanceof DriverEvent.Stopped stopped
                    && stopped.tenant().equals(tenant)) {
                replace(
                        event,
                        stopped.units(),
                        gone,
                        rest -> new DriverEvent.Stopped(tenant, rest, stopped.forced(), stopped.reason()));
            }
        }
    }

    private void replace(
            ExpectedEvent event, List<GpuId> units, Set<GpuId> gone, Function<List<GpuId>, DriverEvent> about) {
        List<GpuId> rest = units.stream().filter(unit -> !gone.contains(unit)).toList();
        if (rest.size() < units.size()) {
            events.remove(event);
            if (!rest.isEmpty()) {
                events.add(new ExpectedEvent(event.at(), event.order(), about.apply(rest)));
            }
        }
    }
}

package io.lendstream.core.simulated;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.ExpectedEvent;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** The events that a simulated driver will report, in the order of their times. */
final class ExpectedEvents {
    private static final SortedSet<ExpectedEvent> NONE = Collections.emptySortedSet();

    private final TreeSet<ExpectedEvent> events = new TreeSet<>();
    private final Map<Tenant, SortedSet<ExpectedEvent>> byTenant = new HashMap<>();
    private long nextOrder;

    void restore(Collection<ExpectedEvent> saved) {
        saved.forEach(this::add);
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
        ExpectedEvent next = events.first();
        remove(next);
        return next.event();
    }

    void add(Instant at, DriverEvent event) {
        add(new ExpectedEvent(at, nextOrder++, event));
    }

    private void add(ExpectedEvent event) {
        events.add(event);
        tenant(event)
                .ifPresent(tenant ->
                        byTenant.computeIfAbsent(tenant, any -> new TreeSet<>()).add(event));
    }

    private void remove(ExpectedEvent event) {
        events.remove(event);
        tenant(event)
                .ifPresent(tenant -> byTenant.computeIfPresent(
                        tenant, (any, left) -> left.remove(event) && left.isEmpty() ? null : left));
    }

    private SortedSet<ExpectedEvent> about(Tenant tenant) {
        return byTenant.getOrDefault(tenant, NONE);
    }

    private static Optional<Tenant> tenant(ExpectedEvent event) {
        DriverEvent what = event.event();
        if (what instanceof DriverEvent.Started started) {
            return Optional.of(started.tenant());
        }
        if (what instanceof DriverEvent.Stopped stopped) {
            return Optional.of(stopped.tenant());
        }
        if (what instanceof DriverEvent.InForce inForce) {
            return Optional.of(inForce.tenant());
        }
        return what instanceof DriverEvent.Failed failed ? Optional.of(failed.tenant()) : Optional.empty();
    }

    /** When a tenant is up, or has failed to start, on the last of the units on which it starts. */
    Optional<Instant> lastStart(Tenant tenant) {
        return last(
                tenant,
                event -> event.event() instanceof DriverEvent.Started || event.event() instanceof DriverEvent.Failed);
    }

    /** When the last change of a tenant is in force. */
    Optional<Instant> lastInForce(Tenant tenant) {
        return last(tenant, ExpectedEvents::isInForce);
    }

    private Optional<Instant> last(Tenant tenant, Predicate<ExpectedEvent> kind) {
        Optional<Instant> last = Optional.empty();
        for (ExpectedEvent event : about(tenant)) {
            if (kind.test(event)) {
                last = Optional.of(event.at());
            }
        }
        return last;
    }

    /** An expected change is superseded by a later one of the same domain. */
    void supersede(Tenant tenant, DomainId domain) {
        inForceBy(tenant, domain).forEach(this::remove);
    }

    /** A change that was to be in force is not so before this time. */
    void delay(Tenant tenant, DomainId domain, Instant until) {
        for (ExpectedEvent event : inForceBy(tenant, domain)) {
            if (event.at().isBefore(until)) {
                remove(event);
                add(new ExpectedEvent(until, event.order(), event.event()));
            }
        }
    }

    private List<ExpectedEvent> inForceBy(Tenant tenant, DomainId domain) {
        List<ExpectedEvent> found = new ArrayList<>();
        for (ExpectedEvent event : about(tenant)) {
            if (event.event() instanceof DriverEvent.InForce inForce
                    && inForce.decision().domain().equals(domain)) {
                found.add(event);
            }
        }
        return found;
    }

    private static boolean isInForce(ExpectedEvent event) {
        return event.event() instanceof DriverEvent.InForce;
    }

    /** Names the units of a tenant's starts and stops by other names. */
    void rename(Tenant tenant, UnaryOperator<GpuId> names) {
        for (ExpectedEvent event : List.copyOf(about(tenant))) {
            DriverEvent what = event.event();
            if (what instanceof DriverEvent.Started started) {
                List<GpuId> renamed = started.units().stream().map(names).toList();
                remove(event);
                add(new ExpectedEvent(
                        event.at(), event.order(), new DriverEvent.Started(tenant, renamed, started.placements())));
            } else if (what instanceof DriverEvent.Stopped stopped) {
                List<GpuId> renamed = stopped.units().stream().map(names).toList();
                remove(event);
                add(new ExpectedEvent(
                        event.at(),
                        event.order(),
                        new DriverEvent.Stopped(
                                tenant, renamed, stopped.forced(), stopped.reason(), stopped.placements())));
            }
        }
    }

    /** Takes units out of all expected events of a tenant's starts and stops. */
    void withdraw(Tenant tenant, Collection<GpuId> units) {
        if (units.isEmpty() || about(tenant).isEmpty()) {
            return;
        }
        Set<GpuId> gone = Set.copyOf(units);
        for (ExpectedEvent event : List.copyOf(about(tenant))) {
            if (event.event() instanceof DriverEvent.Started started) {
                replace(
                        event,
                        started.units(),
                        gone,
                        rest -> new DriverEvent.Started(tenant, rest, started.placements()));
            } else if (event.event() instanceof DriverEvent.Stopped stopped) {
                replace(
                        event,
                        stopped.units(),
                        gone,
                        rest -> new DriverEvent.Stopped(
                                tenant, rest, stopped.forced(), stopped.reason(), stopped.placements()));
            }
        }
    }

    private void replace(
            ExpectedEvent event, List<GpuId> units, Set<GpuId> gone, Function<List<GpuId>, DriverEvent> about) {
        List<GpuId> rest = units.stream().filter(unit -> !gone.contains(unit)).toList();
        if (rest.size() < units.size()) {
            remove(event);
            if (!rest.isEmpty()) {
                add(new ExpectedEvent(event.at(), event.order(), about.apply(rest)));
            }
        }
    }
}

package io.lendstream.core.simulated;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.ExpectedEvent;
import io.lendstream.core.actuation.GpuCutting;
import io.lendstream.core.actuation.Holding;
import io.lendstream.core.actuation.InStepDriver;
import io.lendstream.core.actuation.NameExchange;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.actuation.OrderSubject;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.UnitChoice;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * A driver of simulated tenants: a {@link DelayModel} gives the time and the failures of each change. It is ordered and
 * heard like any other driver.
 *
 * <p>A job's older changes are in force together with its newest. A service's changes are in force in their order, and
 * not before its replicas have started.
 */
public final class SimulatedDriver implements InStepDriver {
    private final DelayModel delays;
    private final Abilities abilities;
    private final Optional<DevicePlugin> plugin;
    private final Map<Tenant, SimulatedTenant> tenants = new HashMap<>();
    private final ExpectedEvents expected = new ExpectedEvents();
    /** The units that paused jobs had: their state is in the memory of that node. */
    private final Map<Tenant, Set<GpuId>> paused = new HashMap<>();

    /** A driver of tenants none of which runs yet. */
    public SimulatedDriver(DelayModel delays) {
        this(delays, Abilities.USUAL);
    }

    /** The same with other abilities, as a driver of another system would have. */
    public SimulatedDriver(DelayModel delays, Abilities abilities) {
        this(delays, abilities, Optional.empty());
    }

    /** A driver that chooses the node only, because a device plugin picks the units there. */
    public SimulatedDriver(DelayModel delays, Abilities abilities, DevicePlugin plugin) {
        this(
                delays,
                abilities.choosesUnits() ? abilities.choosing(UnitChoice.NODE, UnitChoice.NODE) : abilities,
                Optional.of(plugin));
    }

    private SimulatedDriver(DelayModel delays, Abilities abilities, Optional<DevicePlugin> plugin) {
        this.delays = delays;
        this.abilities = abilities;
        this.plugin = plugin;
    }

    @Override
    public boolean runs(Tenant tenant, Optional<TrainingJob> job) {
        return true;
    }

    @Override
    public Abilities abilities() {
        return abilities;
    }

    @Override
    public boolean batches() {
        return true;
    }

    @Override
    public void take(Order order, OrderSubject subject, Instant now) {
        if (order instanceof Order.Place place) {
            place(place, subject, now);
        } else if (order instanceof Order.Force force) {
            force(force, now);
        } else if (order instanceof Order.Cut cut) {
            var cutting = new GpuCutting(cut.gpu(), cut.places(), subject.gpu());
            ChangeTiming timing = delays.recut(cutting.destroyed(), cutting.created(), cutting.switchesMode());
            expected.add(now.plus(timing.ready()), new DriverEvent.Cut(cut.decision(), cut.gpu(), true, ""));
        } else if (order instanceof Order.Batch batch) {
            var service = new Tenant.Service(batch.batching().service());
            Instant at = notBefore(expected.lastStart(service), notBefore(expected.lastInForce(service), now));
            expected.add(at, new DriverEvent.InForce(service, batch.decision()));
        }
    }

    private void place(Order.Place place, OrderSubject subject, Instant now) {
        Tenant tenant = place.tenant();
        SimulatedTenant.Move move = tenant(tenant).move(place);
        boolean wasPaused = paused.containsKey(tenant);
        if (place.allocation().filter(Allocation::isPaused).isPresent()) {
            paused.putIfAbsent(tenant, Set.copyOf(move.leaving()));
        } else if (place.allocation().isPresent()) {
            paused.remove(tenant);
        }
        ChangeTiming timing = delays.changeTiming(facts(place, move, subject, remaining(tenant, now), wasPaused));
        expected.withdraw(tenant, move.leaving());
        Instant left = stop(place, move.leaving(), timing, now);
        boolean fails = !move.gained().isEmpty() && timing.failure() == ChangeTiming.FailureMode.BIND_FAILS;
        Instant up =
                start(place, move.gained(), left.plus(timing.bind()), fails).orElse(left);
        if (!move.isRepeated()) {
            settle(place, up, notBefore(Optional.of(up), now.plus(timing.ready())), fails);
        }
        forgetIfGone(tenant);
    }

    /** The facts of a change. An order under the decision of the order before it takes GPUs out of it. */
    private static ChangeFacts facts(
            Order.Place place, SimulatedTenant.Move move, OrderSubject subject, Duration remaining, boolean wasPaused) {
        Optional<Allocation> allocation = place.allocation().filter(any -> !move.isRepeated());
        Mechanism usual = move.isRepeated()
                ? subject.job().map(job -> job.scaling().elastic()).orElse(false) ? Mechanism.AFE : Mechanism.RESTART
                : Mechanism.UNKNOWN;
        return new ChangeFacts(
                place.decision(),
                place.tenant(),
                move.leaving(),
                move.gained(),
                move.before(),
                place.units().size(),
                allocation.map(Allocation::mechanism).orElse(usual),
                allocation.map(Allocation::localBatch).orElse(0),
                remaining,
                subject.job(),
                subject.serviceOn(move.gained(), place.replicas()),
                wasPaused);
    }

    /** How long earlier changes of a job would still take. */
    private Duration remaining(Tenant tenant, Instant now) {
        return expected.lastInForce(tenant)
                .filter(any -> isJob(tenant))
                .map(at -> Duration.between(now, at))
                .orElse(Duration.ZERO);
    }

    /**
     * Stops a tenant on units, and returns when it will have left: when it is killed, if it does not leave by itself.
     */
    private Instant stop(Order.Place place, List<GpuId> leaving, ChangeTiming timing, Instant now) {
        if (leaving.isEmpty()) {
            return now;
        }
        Instant deadline = notBefore(Optional.of(now), place.by());
        Instant left = now.plus(timing.release());
        if (timing.failure() == ChangeTiming.FailureMode.STUCK_RELEASE || left.isAfter(deadline)) {
            return deadline;
        }
        expected.add(left, new DriverEvent.Stopped(place.tenant(), leaving, false, ""));
        return left;
    }

    /** Starts a tenant on units; empty if there are none. */
    private Optional<Instant> start(Order.Place place, List<GpuId> gained, Instant at, boolean fails) {
        if (gained.isEmpty()) {
            return Optional.empty();
        }
        expected.add(
                at,
                fails
                        ? new DriverEvent.Failed(place.tenant(), place.decision(), "did not come up")
                        : new DriverEvent.Started(place.tenant(), gained));
        return Optional.of(at);
    }

    /**
     * Reports when a change is in force.
     *
     * @param up when the tenant runs on the units that it gets, or has failed to
     * @param ready when it would be in force without other changes
     */
    private void settle(Order.Place place, Instant up, Instant ready, boolean fails) {
        Tenant tenant = place.tenant();
        DomainId domain = place.decision().domain();
        Optional<Instant> starting = expected.lastStart(tenant);
        if (fails) {
            if (isJob(tenant)) {
                expected.delay(tenant, domain, notBefore(starting, up));
            }
            return;
        }
        Optional<Instant> before = isJob(tenant) ? starting : expected.lastInForce(tenant);
        if (isJob(tenant)) {
            expected.supersede(tenant, domain);
        }
        expected.add(notBefore(starting, notBefore(before, ready)), new DriverEvent.InForce(tenant, place.decision()));
    }

    /** Whatever still runs on the units is gone at once, if it is gone already too: an order may be repeated. */
    private void force(Order.Force force, Instant now) {
        paused.remove(force.tenant());
        expected.withdraw(force.tenant(), force.units());
        expected.add(now, new DriverEvent.Stopped(force.tenant(), force.units(), true, ""));
    }

    @Override
    public Optional<ExpectedEvent> next() {
        return expected.next();
    }

    @Override
    public DriverEvent takeNext() {
        DriverEvent event = expected.takeNext();
        if (event instanceof DriverEvent.Stopped stopped) {
            tenant(stopped.tenant()).stopped(stopped.units());
            forgetIfGone(stopped.tenant());
        }
        return plugin.isPresent() ? plugin.get().placed(event) : event;
    }

    @Override
    public void exchange(NameExchange names) {
        names.tenants().forEach(tenant -> rename(tenant, names));
        plugin.ifPresent(picks -> picks.exchange(names));
    }

    private void rename(Tenant tenant, NameExchange names) {
        UnaryOperator<GpuId> renamed = unit -> names.renamed(tenant, unit);
        if (tenants.containsKey(tenant)) {
            tenant(tenant).rename(renamed);
        }
        expected.rename(tenant, renamed);
    }

    @Override
    public void lose(Collection<GpuId> units) {
        tenants.forEach((tenant, runs) -> {
            if (runs.stopped(units)) {
                expected.withdraw(tenant, units);
            }
        });
        tenants.values().removeIf(SimulatedTenant::isGone);
        paused.values().removeIf(had -> !Collections.disjoint(had, units));
        plugin.ifPresent(picks -> picks.lose(units));
    }

    @Override
    public boolean delivers(ActuationReport report) {
        boolean isAnswer = report.outcome() == Outcome.ACCEPTED || report.outcome() == Outcome.REJECTED;
        return isAnswer
                || report.tenant()
                        .filter(tenant -> delays.isSilent(report.decision(), tenant))
                        .isEmpty();
    }

    @Override
    public List<ExpectedEvent> expected() {
        return expected.all();
    }

    @Override
    public void restore(
            Collection<Holding> holdings, Collection<Order.Place> places, Collection<ExpectedEvent> toCome) {
        expected.restore(toCome);
        for (Holding holding : holdings) {
            tenant(holding.tenant()).restore(holding.gpu(), holding.phase() == Holding.Phase.RELEASING);
        }
        for (Order.Place place : places) {
            tenant(place.tenant()).restore(place.decision());
            if (place.allocation().filter(Allocation::isPaused).isPresent()) {
                paused.put(place.tenant(), Set.copyOf(place.leaving()));
            }
        }
    }

    private void forgetIfGone(Tenant tenant) {
        if (tenant(tenant).isGone()) {
            tenants.remove(tenant);
        }
    }

    private SimulatedTenant tenant(Tenant tenant) {
        return tenants.computeIfAbsent(tenant, any -> new SimulatedTenant());
    }

    private static boolean isJob(Tenant tenant) {
        return tenant.jobId().isPresent();
    }

    private static Instant notBefore(Optional<Instant> bound, Instant at) {
        return bound.filter(at::isBefore).orElse(at);
    }
}

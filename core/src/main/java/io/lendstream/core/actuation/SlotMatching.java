package io.lendstream.core.actuation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.event.UnitPlacement;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/**
 * Matches names of units by count, for a driver that does not choose units. There a name stands for any unit of its
 * node, kind, pool and profile: the scheduler may name a tenant by other units than before, and the driver reports by
 * the names of its orders.
 *
 * <p>For a driver that chooses units it does nothing.
 */
final class SlotMatching {
    private static final Set<Outcome> PLACED =
            Set.of(Outcome.BOUND, Outcome.RELEASED, Outcome.FORCED, Outcome.FAILED, Outcome.HOLDS);

    private final ActuationState state;
    private final boolean applies;
    /** Tenants that have left their last unit: their absence is reported, until they have one again. */
    private final Map<String, Emptied> emptied = new TreeMap<>();

    /** The users that drivers named for units; those that are not known belong to any unit. */
    private final Map<GpuId, String> users = new TreeMap<>();
    /** Users that are being killed. */
    private final Set<String> strays = new TreeSet<>();

    private record Emptied(Tenant tenant, DomainId domain) {}

    SlotMatching(ActuationState state) {
        this.state = state;
        this.applies = !state.driver().abilities().choosesUnits();
    }

    /**
     * Names the units of tenants as a decision names them. Whole holdings change their names, with their leases, within
     * a class. A name that stays held is refused later.
     */
    void relabel(Decision decision) {
        if (!applies) {
            return;
        }
        DecisionScope scope = new DecisionScope(state);
        Map<GpuId, ReplicaId> parts = SlotNames.parts(decision.action());
        for (SlotNames names : SlotNames.of(decision.action())) {
            List<GpuId> held = scope.own(names.held());
            held.forEach(unit -> takeName(names.tenant(), unit, held, Optional.ofNullable(parts.get(unit))));
            List<GpuId> gained = scope.own(names.gained());
            Set<GpuId> named = new HashSet<>(held);
            named.addAll(gained);
            gained.forEach(unit -> freeName(unit, named));
            for (GpuId unit : scope.own(names.filled())) {
                if (!isHeldBy(names.tenant(), unit)) {
                    freeName(unit, named);
                }
            }
        }
    }

    /**
     * Gives a name to a holding of a tenant whose own name the decision does not use for it.
     *
     * @param replica the replica of several units that the named unit is a part of; its own parts come first
     */
    private void takeName(Tenant tenant, GpuId name, Collection<GpuId> named, Optional<ReplicaId> replica) {
        Optional<GpuId> part = replica.flatMap(of -> state.inventory().alike(name).stream()
                .filter(unit -> !named.contains(unit) && isPart(unit, of))
                .findFirst());
        boolean isOther =
                part.isPresent() && replica.filter(of -> isPart(name, of)).isEmpty();
        if (isHeldBy(tenant, name) && !isOther) {
            return;
        }
        part.or(() -> firstOf(tenant, name, named, Holding.Phase.BOUND, Holding.Phase.BINDING, Holding.Phase.RELEASING))
                .ifPresent(unit -> exchange(unit, name));
    }

    private boolean isPart(GpuId unit, ReplicaId of) {
        return state.holding(unit)
                .flatMap(Holding::replica)
                .filter(replica -> replica.replica().equals(of))
                .isPresent();
    }

    /** The first unit of a tenant like another, by phase and then by name. */
    private Optional<GpuId> firstOf(Tenant tenant, GpuId like, Collection<GpuId> except, Holding.Phase... phases) {
        List<GpuId> units = state.inventory().alike(like);
        for (Holding.Phase phase : phases) {
            for (GpuId unit : units) {
                if (!except.contains(unit) && isIn(tenant, unit, phase)) {
                    return Optional.of(unit);
                }
            }
        }
        return Optional.empty();
    }

    private boolean isHeldBy(Tenant tenant, GpuId unit) {
        return state.holding(unit).map(Holding::tenant).filter(tenant::equals).isPresent();
    }

    private boolean isIn(Tenant tenant, GpuId unit, Holding.Phase phase) {
        return isHeldBy(tenant, unit)
                && state.holding(unit).map(Holding::phase).filter(phase::equals).isPresent();
    }

    /** Gives a holding under a name that is to be free another free name, if there is one. */
    private void freeName(GpuId name, Set<GpuId> named) {
        if (state.holding(name).isEmpty()) {
            return;
        }
        for (GpuId unit : state.inventory().alike(name)) {
            if (!named.contains(unit)
                    && state.holding(unit).isEmpty()
                    && !state.steps().isRecut(unit)) {
                exchange(name, unit);
                return;
            }
        }
    }

    private void exchange(GpuId one, GpuId other) {
        NameExchange names = new NameExchange(
                one,
                state.holding(one).map(Holding::tenant),
                other,
                state.holding(other).map(Holding::tenant));
        state.exchange(one, other);
        Optional<String> ofOne = Optional.ofNullable(users.remove(one));
        Optional<String> ofOther = Optional.ofNullable(users.remove(other));
        ofOne.ifPresent(user -> users.put(other, user));
        ofOther.ifPresent(user -> users.put(one, user));
        names.tenants().forEach(tenant -> rename(tenant, names));
        state.driver().inStep().ifPresent(driver -> driver.exchange(names));
    }

    private void rename(Tenant tenant, NameExchange names) {
        UnaryOperator<GpuId> renamed = unit -> names.renamed(tenant, unit);
        state.steps().rename(tenant, renamed);
        state.orders().rename(tenant, renamed);
    }

    /**
     * A driver's event by the names that units have now. What starts beyond the number of units that the tenant is to
     * have is killed by its user.
     */
    DriverEvent known(DriverEvent event, List<ActuationReport> reports) {
        if (!applies) {
            return event;
        }
        if (event instanceof DriverEvent.Started started) {
            return known(started);
        }
        return event instanceof DriverEvent.Stopped stopped ? known(stopped, reports) : event;
    }

    private DriverEvent known(DriverEvent.Started started) {
        Tenant tenant = started.tenant();
        Set<GpuId> taken = new TreeSet<>();
        List<UnitPlacement> placements = new ArrayList<>();
        List<String> beyond = new ArrayList<>();
        for (GpuId name : heldFirst(tenant, started.units())) {
            UnitPlacement placement = placement(started.placements(), name);
            Optional<GpuId> unit = starting(tenant, name, taken, placement.user());
            if (unit.isPresent()) {
                taken.add(unit.get());
                placements.add(placement.by(unit.get()));
                placement.user().ifPresent(user -> users.put(unit.get(), user));
            } else {
                placement.user().ifPresent(beyond::add);
            }
        }
        if (!beyond.isEmpty()) {
            strays.addAll(beyond);
            state.orders().add(new Order.Force(DriverFeedback.lastDecision(state, tenant), tenant, List.of(), beyond));
        }
        return new DriverEvent.Started(tenant, List.copyOf(taken), placements);
    }

    /** The unit on which a tenant runs by some name: one that is to be bound, or one that may have this user. */
    private Optional<GpuId> starting(Tenant tenant, GpuId name, Set<GpuId> taken, Optional<String> user) {
        Set<GpuId> others = new HashSet<>(taken);
        for (GpuId unit : state.held(tenant)) {
            boolean isAnother = !isIn(tenant, unit, Holding.Phase.BINDING)
                    && user.filter(known -> !known.equals(users.getOrDefault(unit, known)))
                            .isPresent();
            if (isAnother) {
                others.add(unit);
            }
        }
        return isHeldBy(tenant, name) && !others.contains(name)
                ? Optional.of(name)
                : firstOf(tenant, name, others, Holding.Phase.BINDING, Holding.Phase.BOUND, Holding.Phase.RELEASING);
    }

    private DriverEvent known(DriverEvent.Stopped stopped, List<ActuationReport> reports) {
        Tenant tenant = stopped.tenant();
        Set<GpuId> taken = new TreeSet<>();
        List<UnitPlacement> placements = new ArrayList<>();
        for (GpuId name : heldFirst(tenant, stopped.units())) {
            UnitPlacement placement = placement(stopped.placements(), name);
            boolean isStray = placement.user().filter(strays::remove).isPresent();
            Optional<GpuId> unit = isStray ? Optional.empty() : leaving(tenant, name, taken, placement.user());
            if (unit.isEmpty()) {
                continue;
            }
            Optional<GpuId> elsewhere = placement.unit().filter(actual -> !isAlike(actual, unit.get()));
            Optional<GpuId> gone = elsewhere.flatMap(
                    actual -> firstOf(tenant, actual, taken, Holding.Phase.BOUND, Holding.Phase.BINDING));
            if (gone.isPresent() && isIn(tenant, unit.get(), Holding.Phase.RELEASING)) {
                keep(tenant, unit.get(), gone.get(), placement.by(unit.get()), reports);
            } else {
                taken.add(unit.get());
                leave(unit.get(), placement.user());
                placements.add(
                        elsewhere.isEmpty()
                                ? placement.by(unit.get())
                                : UnitPlacement.unknown(unit.get(), placement.user()));
            }
        }
        return new DriverEvent.Stopped(
                tenant,
                List.copyOf(taken),
                stopped.forced(),
                stopped.reason(),
                placements,
                stopped.ofProgram(),
                stopped.othersRunOn());
    }

    /** Names that the tenant has come first, so that they are not taken for others. */
    private List<GpuId> heldFirst(Tenant tenant, List<GpuId> units) {
        List<GpuId> inOrder = new ArrayList<>();
        units.stream().filter(unit -> isHeldBy(tenant, unit)).forEach(inOrder::add);
        units.stream().filter(unit -> !isHeldBy(tenant, unit)).forEach(inOrder::add);
        return inOrder;
    }

    /**
     * The unit that a tenant leaves by some name: that name or one like it, of those that it is to leave first. Empty
     * if it has left the unit of this user already.
     */
    private Optional<GpuId> leaving(Tenant tenant, GpuId name, Set<GpuId> taken, Optional<String> user) {
        if (isIn(tenant, name, Holding.Phase.RELEASING) && !taken.contains(name)) {
            return Optional.of(name);
        }
        Optional<GpuId> asked = firstOf(tenant, name, taken, Holding.Phase.RELEASING);
        if (asked.isPresent()) {
            return asked;
        }
        if (user.isPresent() && !mayHave(tenant, name, user.get())) {
            return Optional.empty();
        }
        return isHeldBy(tenant, name) && !taken.contains(name)
                ? Optional.of(name)
                : firstOf(tenant, name, taken, Holding.Phase.BOUND, Holding.Phase.BINDING);
    }

    /** Whether a tenant may have this user on a unit like another. */
    private boolean mayHave(Tenant tenant, GpuId like, String user) {
        for (GpuId unit : state.inventory().alike(like)) {
            if (isHeldBy(tenant, unit) && users.getOrDefault(unit, user).equals(user)) {
                return true;
            }
        }
        return false;
    }

    /** A unit has no user any more. If the user was that of another unit, that has the user of this one. */
    private void leave(GpuId unit, Optional<String> user) {
        Optional<String> own = Optional.ofNullable(users.remove(unit));
        if (own.isPresent() && user.isPresent()) {
            users.replaceAll((other, known) -> known.equals(user.get()) ? own.get() : known);
        }
    }

    private boolean isAlike(GpuId one, GpuId other) {
        return state.inventory().slotClass(one).equals(state.inventory().slotClass(other));
    }

    /**
     * A controller stopped a unit of another class than the one that was to go. The tenant keeps that one, and it is
     * reported under its name, with the unit that has gone.
     */
    private void keep(Tenant tenant, GpuId kept, GpuId gone, UnitPlacement placement, List<ActuationReport> reports) {
        for (PendingStep step : state.steps().awaited(tenant, PendingStep::frees)) {
            if (step.gpus().contains(kept)) {
                PendingStep part = state.steps().takeOut(step, List.of(kept));
                reports.add(state.report(
                                part.decision(),
                                Outcome.RELEASED,
                                List.of(kept),
                                Optional.of(tenant),
                                Timings.NONE,
                                part.reason())
                        .with(List.of(placement)));
            }
        }
        state.steps().withdraw(tenant, List.of(gone), step -> step.kind() != PendingStep.Kind.APPLY);
        state.free(List.of(gone));
        state.moveTo(Holding.Phase.BOUND, List.of(kept));
        users.remove(gone);
        state.orders().rename(tenant, unit -> unit.equals(gone) ? kept : unit.equals(kept) ? gone : unit);
    }

    private static UnitPlacement placement(List<UnitPlacement> placements, GpuId name) {
        return placements.stream()
                .filter(placement -> placement.named().equals(name))
                .findFirst()
                .orElseGet(() -> UnitPlacement.unknown(name, Optional.empty()));
    }

    /** Adds to reports what an event says about the units. */
    void place(List<ActuationReport> reports, int from, DriverEvent event) {
        if (!applies) {
            return;
        }
        List<UnitPlacement> placements = event instanceof DriverEvent.Started started
                ? started.placements()
                : event instanceof DriverEvent.Stopped stopped ? stopped.placements() : List.of();
        for (int i = from; i < reports.size(); i++) {
            reports.set(i, withPlacements(reports.get(i), placements));
        }
    }

    /** A report whose units are not known, unless it says so. */
    ActuationReport placed(ActuationReport report) {
        ActuationReport placed = applies ? withPlacements(report, List.of()) : report;
        if (applies) {
            remember(placed);
        }
        return placed;
    }

    private static ActuationReport withPlacements(ActuationReport report, List<UnitPlacement> placements) {
        return PLACED.contains(report.outcome()) && report.placements().isEmpty()
                ? report.with(report.gpus().stream()
                        .map(unit -> placement(placements, unit))
                        .toList())
                : report;
    }

    private void remember(ActuationReport report) {
        boolean isLeft = report.outcome() == Outcome.RELEASED
                || report.outcome() == Outcome.FORCED
                || report.outcome() == Outcome.FAILED;
        report.tenant()
                .filter(tenant -> isLeft && state.held(tenant).isEmpty())
                .ifPresent(tenant -> emptied.put(tenant.toString(), new Emptied(tenant, report.domain())));
    }

    /**
     * Whether the number of units of a tenant is not known just now: some change, or no driver has confirmed them since
     * a restart.
     */
    boolean isUncounted(Tenant tenant, Set<GpuId> unseen) {
        return applies
                && state.held(tenant).stream()
                        .anyMatch(unit -> unseen.contains(unit) || !isIn(tenant, unit, Holding.Phase.BOUND));
    }

    /** The tenants of a domain that have left their last unit, and have none now. */
    List<Tenant> emptied(DomainId domain) {
        emptied.values().removeIf(left -> !state.held(left.tenant()).isEmpty());
        return emptied.values().stream()
                .filter(left -> left.domain().equals(domain))
                .map(Emptied::tenant)
                .toList();
    }

    void forget(Tenant tenant) {
        emptied.remove(tenant.toString());
    }
}

package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ClusterState;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Compares steps that leave out what {@link WorkDue} lets them with steps that leave out nothing, at every event of a
 * history. Four things are asked:
 *
 * <ul>
 *   <li>Where all that time has made is done just before an event, both steps are equal: decisions, state, changes.
 *   <li>What time alone has made by an event, and was left for later, is one of the {@linkplain Deferral deferrals}.
 *   <li>At a tick, and at the first event after a deadline, both make the same decisions.
 *   <li>A plan that rests would be the same at any time for plans, save that it would say again why nothing is planned.
 * </ul>
 */
final class ShortcutOracle {
    /** After so many looks at one time there is nothing left to do. */
    private static final int MOST_TICKS = 5;

    private static final Set<ReasonCode> OF_DEMAND =
            EnumSet.of(ReasonCode.DEMAND, ReasonCode.FORECAST, ReasonCode.WAITING);
    private static final Set<ReasonCode> OF_BATCHES = EnumSet.of(ReasonCode.BATCHES, ReasonCode.LATE);
    private static final Set<ReasonCode> OF_CUTS = EnumSet.of(ReasonCode.SLICES);
    private static final Set<ReasonCode> OF_PLANS = EnumSet.of(
            ReasonCode.PLAN,
            ReasonCode.SLICE,
            ReasonCode.HELD,
            ReasonCode.STALE,
            ReasonCode.ADMISSION,
            ReasonCode.HOST);

    /** Makes a plan at every event. */
    private static final WorkDue PLANS = new WorkDue() {
        @Override
        boolean isPlanDue(Situation it) {
            return true;
        }
    };

    /** What may wait, as {@link WorkDue} says. */
    enum Deferral {
        NEEDS_OF_OTHERS,
        BATCHES_OF_OTHERS,
        CUTS,
        PLAN,
        RESTING_PLAN
    }

    private final Scheduler scheduler;
    private final WorkDue work;
    private final Map<Deferral, Integer> deferrals = new EnumMap<>(Deferral.class);
    private int compared;
    private int leftOut;

    ShortcutOracle(Scheduler scheduler, WorkDue work) {
        this.scheduler = scheduler;
        this.work = work;
    }

    /** How often each kind of work was left for later. */
    Map<Deferral, Integer> deferrals() {
        return deferrals;
    }

    /** Events at which some phase was left out, of those compared. */
    int leftOut() {
        return leftOut;
    }

    int compared() {
        return compared;
    }

    /** The first event at which a shortcut is wrong, and how; empty where all are right. */
    Optional<String> firstError(List<DomainEvent> log) {
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : log) {
            ClusterState from = state;
            if (!(event.event() instanceof SchedulerStarted)) {
                Optional<Instant> resting = resting(from, event.at());
                Optional<String> error =
                        resting.flatMap(time -> restsRightly(from, time)).or(() -> compared(from, event));
                if (error.isPresent()) {
                    return Optional.of("event %d, %s: %s".formatted(event.sequence(), event.event(), error.get()));
                }
            }
            state = scheduler.step(state, event).state();
        }
        return Optional.empty();
    }

    private Optional<String> compared(ClusterState state, DomainEvent event) {
        return isAllDue(state, event) ? atOnce(state, event) : atEvent(state, event);
    }

    /** Both steps from a state in which time may have made something: each sees to all of that. */
    private Optional<String> atOnce(ClusterState state, DomainEvent event) {
        List<Decision> quick =
                scheduler.step(state, event, StepListener.NONE, work).decisions();
        List<Decision> whole =
                scheduler.step(state, event, StepListener.NONE, WorkDue.ALWAYS).decisions();
        return quick.equals(whole)
                ? Optional.empty()
                : Optional.of("decided %s, but all phases decide %s".formatted(quick, whole));
    }

    /** A plan that rests would be the same at the last time for plans before an event, were it not made of holds. */
    private Optional<String> restsRightly(ClusterState state, Instant time) {
        List<Decision> planned = scheduler
                .step(state, next(state, time, new Tick(Scenario.DOMAIN, time)), StepListener.NONE, PLANS)
                .decisions();
        List<Decision> made = scheduler
                .step(state, next(state, time, new Tick(Scenario.DOMAIN, time)), StepListener.NONE, work)
                .decisions();
        List<Decision> more =
                planned.stream().filter(decision -> !has(made, decision)).toList();
        if (planned.size() != made.size() + more.size() || !more.stream().allMatch(ShortcutOracle::isHold)) {
            return Optional.of("rests at %s, but a plan would decide %s".formatted(time, more));
        }
        if (!more.isEmpty()) {
            deferrals.merge(Deferral.RESTING_PLAN, 1, Integer::sum);
        }
        return Optional.empty();
    }

    /** The last time for plans by an event, if plans rest then and nothing else has happened. */
    private Optional<Instant> resting(ClusterState state, Instant until) {
        Duration period = scheduler.policy().planEvery();
        Instant first = new PlanTimes(scheduler.policy(), scheduler.settings()).next(state.now());
        if (first.isAfter(until)) {
            return Optional.empty();
        }
        Instant last =
                first.plus(period.multipliedBy(Duration.between(first, until).dividedBy(period)));
        boolean isOver = Deadlines.nextOfOwners(state, scheduler.settings())
                .filter(at -> !at.isAfter(last))
                .isPresent();
        return Optional.of(last)
                .filter(time -> !isOver && !state.mode().advisory())
                .filter(time -> state.nextPlanAt().filter(time::isBefore).isPresent());
    }

    private static boolean has(List<Decision> decisions, Decision wanted) {
        return decisions.stream()
                .anyMatch(each ->
                        each.action().equals(wanted.action()) && each.reason().equals(wanted.reason()));
    }

    private static boolean isHold(Decision decision) {
        return decision.action() instanceof Action.Hold;
    }

    /** Whether an event has to see to all that time has made. */
    private boolean isAllDue(ClusterState state, DomainEvent event) {
        StepBuilder step = applied(state, event);
        return step.event().isTick() || WorkDue.Situation.of(scheduler, step).isAllDue();
    }

    private Optional<String> atEvent(ClusterState state, DomainEvent event) {
        Instant now = event.at().isAfter(state.now()) ? event.at() : state.now();
        ClusterState upToDate = state;
        for (int i = 0; ; i++) {
            Step tick = scheduler.step(upToDate, next(upToDate, now, new Tick(Scenario.DOMAIN, now)));
            Optional<String> late = i == 0 ? late(state, now, tick.decisions()) : Optional.empty();
            if (late.isPresent()) {
                return late;
            }
            upToDate = tick.state();
            if (tick.decisions().isEmpty() && tick.changed().owners().isEmpty()) {
                break;
            }
            if (i == MOST_TICKS) {
                return Optional.of("still not done after %d ticks at once: %s".formatted(i, tick.decisions()));
            }
        }
        DomainEvent again = next(upToDate, now, event.event());
        Step quick = scheduler.step(upToDate, again, StepListener.NONE, work);
        Step whole = scheduler.step(upToDate, again, StepListener.NONE, WorkDue.ALWAYS);
        compared++;
        leftOut += isCutShort(upToDate, again) ? 1 : 0;
        if (upToDate.mode().advisory() && isLeftByAdvice(upToDate, quick, whole)) {
            return Optional.empty();
        }
        if (!quick.decisions().equals(whole.decisions())) {
            return Optional.of("decided %s, but all phases decide %s".formatted(quick.decisions(), whole.decisions()));
        }
        return quick.equals(whole)
                ? Optional.empty()
                : Optional.of("the state is another where all phases are run: %s%n%s".formatted(quick, whole));
    }

    /**
     * Advice changes no state, so that a tick before the event has done nothing: what time has made is still to be
     * advised.
     */
    private boolean isLeftByAdvice(ClusterState state, Step quick, Step whole) {
        List<Decision> more = whole.decisions().stream()
                .filter(decision -> !has(quick.decisions(), decision))
                .toList();
        return !more.isEmpty()
                && whole.decisions().size() == quick.decisions().size() + more.size()
                && more.stream()
                        .allMatch(decision -> kind(state, state.now(), decision).isPresent());
    }

    private boolean isCutShort(ClusterState state, DomainEvent event) {
        return !work.after(scheduler, applied(state, event)).contains(Phase.ALL_SERVICES);
    }

    private StepBuilder applied(ClusterState state, DomainEvent event) {
        StepBuilder step = new StepBuilder(state, event, StepListener.NONE);
        new EventApplier(step, scheduler.policy(), scheduler.settings()).take(event.event());
        return step;
    }

    private static DomainEvent next(ClusterState state, Instant at, Event event) {
        return new DomainEvent(Scenario.DOMAIN, state.epoch(), state.eventSequence() + 1, at, Optional.empty(), event);
    }

    /** What time alone has made by an event, which only a tick would have seen to. */
    private Optional<String> late(ClusterState state, Instant now, List<Decision> onTick) {
        for (Decision decision : onTick) {
            Optional<Deferral> kind = kind(state, now, decision);
            if (kind.isEmpty()) {
                return Optional.of("was to be decided before, and is no deferral: " + decision);
            }
            deferrals.merge(kind.get(), 1, Integer::sum);
        }
        return Optional.empty();
    }

    private Optional<Deferral> kind(ClusterState state, Instant now, Decision decision) {
        Reason reason = decision.reason();
        boolean isPlanDue = state.nextPlanAt().filter(now::isBefore).isEmpty();
        if (OF_DEMAND.stream().anyMatch(reason::is)) {
            boolean isOfFloor =
                    service(decision).filter(name -> isUnderFloor(state, name)).isPresent();
            return isOfFloor && !decision.advisory() ? Optional.empty() : Optional.of(Deferral.NEEDS_OF_OTHERS);
        }
        if (reason.is(ReasonCode.ABILITY)) {
            return Optional.of(isPlanDue ? Deferral.PLAN : Deferral.CUTS);
        }
        if (reason.is(ReasonCode.QUOTA)) {
            return Optional.of(isPlanDue ? Deferral.PLAN : Deferral.NEEDS_OF_OTHERS);
        }
        if (OF_BATCHES.stream().anyMatch(reason::is)) {
            return Optional.of(Deferral.BATCHES_OF_OTHERS);
        }
        if (OF_CUTS.stream().anyMatch(reason::is)) {
            return Optional.of(Deferral.CUTS);
        }
        boolean isPlanned =
                OF_PLANS.stream().anyMatch(reason::is) || decision.advisory(); // advice is given when a plan is due
        return isPlanned && isPlanDue ? Optional.of(Deferral.PLAN) : Optional.empty();
    }

    private static Optional<ServiceId> service(Decision decision) {
        return decision.action() instanceof Action.Serve serve ? Optional.of(serve.service()) : Optional.empty();
    }

    private static boolean isUnderFloor(ClusterState state, ServiceId name) {
        long replicas = state.gpus().stream()
                .filter(gpu -> gpu.isHeldBy(new io.lendstream.core.id.Tenant.Service(name)))
                .count();
        return replicas < state.services().require(name).spec().floorReplicas();
    }
}

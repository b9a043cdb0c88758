package io.lendstream.scheduler;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.SampleSummary;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.scheduler.HeldSamples;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.state.ClusterState;
import io.lendstream.scheduler.StepRunner.PreparedStep;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Advances domains, by events and by time. If a step fails on an event, the fault is in the event, and the event is
 * refused. A tick contains no input, so if a tick fails, the fault is in the domain's state or in this version, and
 * the domain is stopped. A stopped domain makes no decisions. A tick is tried every minute, and the domain resumes
 * when one succeeds.
 */
final class DomainRunner {
    private static final Logger log = LoggerFactory.getLogger(DomainRunner.class);
    /** Most ticks in a row before other work gets its turn: a week of plans, one minute apart. */
    private static final int MOST_TICKS = 10_000;

    /** Events refused in a row after which a trial tick shows whether the events or the domain is at fault. */
    private static final int MOST_REFUSALS = 20;

    private static final Duration RETRY_EVERY = Duration.ofMinutes(1);

    private final SchedulerOptions options;
    private final StepRunner stepRunner;
    private final InstanceCondition condition;
    private final PlanPhases turns;
    private final Supplier<Instant> wallClock;
    /** Not stored: after a crash newer samples follow. */
    private final Map<DomainId, HeldSamples> held = new HashMap<>();

    DomainRunner(
            SchedulerOptions options,
            StepRunner stepRunner,
            InstanceCondition condition,
            PlanPhases turns,
            Supplier<Instant> wallClock) {
        this.options = options;
        this.stepRunner = stepRunner;
        this.condition = condition;
        this.turns = turns;
        this.wallClock = wallClock;
    }

    /**
     * Applies the event of a record.
     *
     * @param arrived when the record was appended to its topic, in milliseconds
     * @throws Poison if the event would exceed a limit, the core fails on it, or the domain is stopped
     */
    void take(Domain domain, Event event, Origin origin, long arrived) throws Poison {
        options.limits().check(domain.state(), event);
        Instant at = notAhead(event.at());
        if (domain.stop().isEmpty()) {
            try {
                claimEpoch(domain, at, arrived);
                if (options.time() == TimeMode.WALL) {
                    tickUpTo(domain, at, arrived);
                }
                sumUp(domain, at, arrived);
            } catch (RefusedException e) {
                stop(domain, at, e);
            }
        }
        if (domain.stop().isPresent()) {
            mend(domain, event, origin, arrived);
            return;
        }
        try {
            if (!isHeld(domain, event, at, origin)) {
                apply(domain, domain.scheduler(), event, Optional.of(origin), arrived);
            }
        } catch (RefusedException e) {
            if (domain.refused() >= MOST_REFUSALS) {
                probe(domain, at, arrived);
            }
            throw new Poison(Poison.Kind.REFUSED, e.failure());
        }
    }

    /** Makes all ticks due up to a time; in a stopped domain, tries whether a tick works again. */
    void moveTo(Domain domain, Instant upTo, long arrived) {
        if (domain.stop().isPresent() && !retry(domain, upTo, arrived)) {
            return;
        }
        try {
            claimEpoch(domain, upTo, arrived);
            tickUpTo(domain, upTo, arrived);
            sumUp(domain, upTo, arrived);
        } catch (RefusedException e) {
            stop(domain, upTo, e);
        }
    }

    /**
     * When the next tick is due, in whole milliseconds, rounded up: the log stores milliseconds, and a tick must not
     * be early.
     */
    Optional<Instant> nextTimer(Domain domain) throws RefusedException {
        return RefusingCall.of(() -> domain.scheduler()
                .nextTimer(domain.state())
                .map(timer -> {
                    Instant whole = timer.truncatedTo(ChronoUnit.MILLIS);
                    return whole.equals(timer) ? whole : whole.plusMillis(1);
                }));
    }

    private void apply(Domain domain, Scheduler scheduler, Event event, Optional<Origin> origin, long arrived)
            throws RefusedException {
        Instant at = notAhead(event.at());
        Instant now = later(at, domain.state().now());
        for (SampleSummary sum : held(domain).before(event, now)) {
            step(domain, scheduler, sum, Optional.empty(), arrived);
        }
        step(domain, scheduler, event, origin, arrived);
    }

    private void step(Domain domain, Scheduler scheduler, Event event, Optional<Origin> origin, long arrived)
            throws RefusedException {
        Instant at = notAhead(event.at());
        stepRunner.commit(
                domain, stepRunner.prepare(domain, domain.state(), scheduler, event, at, origin, arrived), arrived);
    }

    /**
     * Whether an event is a sample that changes nothing and is held. Its position counts as read: a crash loses it, as
     * if the agent had not sent it.
     */
    private boolean isHeld(Domain domain, Event event, Instant at, Origin origin) throws RefusedException {
        ClusterState state = domain.state();
        DomainEvent sample =
                new DomainEvent(domain.id(), state.epoch(), state.eventSequence() + 1, at, Optional.of(origin), event);
        boolean isHeld = RefusingCall.of(() -> held(domain).hold(domain.scheduler(), state, sample));
        if (isHeld) {
            domain.worked();
            stepRunner.held(event);
        }
        return isHeld;
    }

    private HeldSamples held(Domain domain) {
        return held.computeIfAbsent(domain.id(), any -> options.heldSamples());
    }

    /** Puts through what has been held for long enough at a time. */
    private void sumUp(Domain domain, Instant at, long arrived) throws RefusedException {
        for (SampleSummary sum :
                held(domain).dueAt(domain.id(), later(at, domain.state().now()))) {
            step(domain, domain.scheduler(), sum, Optional.empty(), arrived);
        }
    }

    /**
     * Limits event time to this machine's clock, so a writer with a fast clock cannot advance the domain's deadlines.
     */
    private Instant notAhead(Instant at) {
        return options.time() == TimeMode.WALL && at.isAfter(wallClock.get()) ? wallClock.get() : at;
    }

    /**
     * Takes the domain over by raising its epoch, the first time that this task handles it. If that fails together
     * with the work due then, the epoch is raised without decisions, so that a later record can repair the domain.
     */
    private void claimEpoch(Domain domain, Instant at, long arrived) throws RefusedException {
        if (domain.inOffice()) {
            return;
        }
        Instant now = later(at, domain.state().now());
        boolean isBehind = options.time() == TimeMode.WALL && domain.isBehind();
        Scheduler scheduler =
                options.scheduler().decidingFrom(isBehind ? Optional.of(wallClock.get()) : Optional.empty());
        if (options.time() == TimeMode.WALL) {
            scheduler = scheduler.planningAt(turns.next());
        }
        try {
            claimEpoch(domain, scheduler, now, arrived);
        } catch (RefusedException e) {
            Instant next = now.truncatedTo(ChronoUnit.MILLIS).plusMillis(1);
            Instant from =
                    scheduler.decidesFrom().map(known -> later(known, next)).orElse(next);
            claimEpoch(domain, scheduler.decidingFrom(Optional.of(from)), now, arrived);
            throw e;
        }
    }

    private void claimEpoch(Domain domain, Scheduler scheduler, Instant at, long arrived) throws RefusedException {
        ClusterState before = domain.state();
        SchedulerStarted started = RefusingCall.of(() -> scheduler.started(before, at));
        apply(domain, scheduler, started, Optional.empty(), arrived);
        domain.claimEpoch(scheduler);
        log.info(
                "took over domain {} in epoch {} at event {}{}",
                domain.id(),
                started.epoch(),
                domain.state().eventSequence(),
                scheduler.decidesFrom().isPresent() ? "; backlog applied without decisions" : "");
    }

    private void tickUpTo(Domain domain, Instant now, long arrived) throws RefusedException {
        Instant last = Instant.MIN;
        for (int ticks = 0; ticks < MOST_TICKS; ticks++) {
            Optional<Instant> timer = nextTimer(domain);
            if (timer.isEmpty() || timer.get().isAfter(now)) {
                return;
            }
            Instant at = later(timer.get(), domain.state().now());
            if (!at.isAfter(last)) {
                if (!now.isAfter(last)) {
                    return;
                }
                at = now;
            }
            apply(domain, domain.scheduler(), new Tick(domain.id(), at), Optional.empty(), arrived);
            last = at;
        }
        log.warn("domain {} is {} ticks behind; it continues to catch up with the next event", domain.id(), MOST_TICKS);
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    /** Tries a tick without applying it: if the tick works, the fault is in the events. */
    private void probe(Domain domain, Instant at, long arrived) {
        Instant now = later(at, domain.state().now());
        try {
            stepRunner.prepare(
                    domain,
                    domain.state(),
                    domain.scheduler(),
                    new Tick(domain.id(), now),
                    now,
                    Optional.empty(),
                    arrived);
            log.error(
                    "refused {} events in a row of domain {}, but its ticks work: the fault is in the events; see the dead letters",
                    MOST_REFUSALS,
                    domain.id());
            domain.worked();
        } catch (RefusedException e) {
            stop(domain, now, e);
        }
    }

    private void stop(Domain domain, Instant failedAt, RefusedException failure) {
        Instant now = wallClock.get();
        held(domain).drop();
        domain.stop(Optional.of(
                new Domain.Stop(failure.why(), later(failedAt, domain.state().now()), now, now)));
        condition.stopped(domain.id(), failure.why());
        log.error(
                "domain {} is stopped: a tick at {} failed, so the fault is in its state or in this version. No decisions are made in it, its records go to the dead letters, and its leases expire at the actuators. A tick is retried every {}; the domain resumes after a record that repairs the state, or with a version that handles it",
                domain.id(),
                failedAt,
                RETRY_EVERY,
                failure.getCause());
    }

    private void resume(Domain domain, Domain.Stop stop, String why) {
        domain.stop(Optional.empty());
        domain.worked();
        condition.notStopped(domain.id());
        log.warn(
                "domain {} resumed after {}: {}. Records that arrived meanwhile are in the dead letters",
                domain.id(),
                Duration.between(stop.since(), wallClock.get()),
                why);
    }

    /** Whether a stopped domain works again; tries a tick. */
    private boolean retry(Domain domain, Instant upTo, long arrived) {
        Domain.Stop stop = domain.stop().orElseThrow();
        Instant now = wallClock.get();
        boolean isDue = !now.isBefore(stop.triedAt().plus(RETRY_EVERY)) || now.isBefore(stop.triedAt());
        if (options.time() == TimeMode.WALL && !isDue) {
            return false;
        }
        try {
            claimEpoch(domain, upTo, arrived);
            Instant at = deciding(domain, later(upTo, domain.state().now()));
            apply(domain, domain.scheduler(), new Tick(domain.id(), at), Optional.empty(), arrived);
            resume(domain, stop, "a tick at %s succeeded".formatted(at));
            return true;
        } catch (RefusedException e) {
            if (!stop.why().equals(e.why())) {
                log.error("domain {} is still stopped, now for another reason", domain.id(), e.getCause());
            }
            domain.stop(Optional.of(stop.triedAgain(e.why(), now)));
            condition.stopped(domain.id(), e.why());
            return false;
        }
    }

    /** Applies an event to a stopped domain if the failed tick succeeds after it; otherwise refuses the event. */
    private void mend(Domain domain, Event event, Origin origin, long arrived) throws Poison {
        Domain.Stop stop = domain.stop().orElseThrow();
        boolean isTried = domain.inOffice() && (!event.match(IsSignal.INSTANCE) || domain.mayTry(wallClock.get()));
        Optional<PreparedStep> mended = isTried ? tried(domain, stop, event, origin, arrived) : Optional.empty();
        if (mended.isPresent()) {
            ClusterState after = mended.get().step().state();
            Instant at = deciding(domain, later(stop.failedAt(), after.now()));
            try {
                stepRunner.prepare(
                        domain, after, domain.scheduler(), new Tick(domain.id(), at), at, Optional.empty(), arrived);
                stepRunner.commit(domain, mended.get(), arrived);
                resume(domain, stop, "a tick succeeded after the record at %s".formatted(origin));
                return;
            } catch (RefusedException e) {
                log.debug("{} does not repair domain {}", origin, domain.id(), e);
            }
        }
        String why =
                "domain %s has been stopped since %s because a tick fails: %s. Write the record again after the domain has resumed; the scheduler's log has details"
                        .formatted(domain.id(), stop.since(), stop.why());
        throw new Poison(Poison.Kind.DOMAIN_STOPPED, new DomainStoppedException(why));
    }

    /** Not before the scheduler may decide: an earlier tick would prove nothing. */
    private static Instant deciding(Domain domain, Instant at) {
        return domain.scheduler().decidesFrom().map(from -> later(from, at)).orElse(at);
    }

    /** The step of an event; empty if a signal fails in the same way as ticks do, so the signal is not at fault. */
    private Optional<PreparedStep> tried(Domain domain, Domain.Stop stop, Event event, Origin origin, long arrived)
            throws Poison {
        try {
            return Optional.of(stepRunner.prepare(
                    domain,
                    domain.state(),
                    domain.scheduler(),
                    event,
                    notAhead(event.at()),
                    Optional.of(origin),
                    arrived));
        } catch (RefusedException e) {
            if (event.match(IsSignal.INSTANCE) && e.why().equals(stop.why())) {
                return Optional.empty();
            }
            throw new Poison(Poison.Kind.REFUSED, e.failure());
        }
    }
}

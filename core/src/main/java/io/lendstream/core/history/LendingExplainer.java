package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.scheduler.AdoptionClaim;
import io.lendstream.core.scheduler.AdoptionClaims;
import io.lendstream.core.scheduler.LendingReview;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.StepListener;
import io.lendstream.core.state.Advice;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.LogPosition;
import io.lendstream.core.state.ServiceState;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Explains why GPUs of a domain are not lent, and which advice stands. It replays the log to the end, and reviews the
 * resulting state.
 */
public final class LendingExplainer {
    private final LogReplay log;
    private final AdvisedGain gain = new AdvisedGain();
    private final DeclaredClaims claims = new DeclaredClaims();

    public LendingExplainer(DomainId domain) {
        this(domain, Scheduler::of);
    }

    /** @param schedulers the scheduler that a log's start describes */
    public LendingExplainer(DomainId domain, Function<SchedulerStarted, Scheduler> schedulers) {
        this.log = new LogReplay(domain, schedulers);
    }

    /**
     * Replays the log only after a snapshot; to be called before the first event.
     *
     * @throws IllegalArgumentException if this version has no such scheduler
     */
    public LendingExplainer after(Snapshot snapshot) {
        log.startAfter(snapshot);
        return this;
    }

    /** The position of the snapshot after which the replay began; empty if it began with the log. */
    public Optional<LogPosition> start() {
        return log.start();
    }

    /** Takes the next event of the domain's log. */
    public void take(DomainEvent event) {
        if (!log.hasTaken(event)) {
            ClusterState before = log.state();
            log.take(event, StepListener.NONE);
            gain.follow(before, log.state());
            claims.take(event);
        }
    }

    /**
     * Reviews the domain as it is after the events taken.
     *
     * @param at the time to judge by; that of the last event where it is later
     * @return empty where the log could not be replayed
     */
    public Optional<LendingReview> review(Instant at) {
        return obstacle().isPresent()
                ? Optional.empty()
                : log.scheduler().map(scheduler -> LendingReview.of(scheduler, log.state(), at));
    }

    /** Why the log could not be replayed; empty where it could. */
    public Optional<String> obstacle() {
        return log.last() == 0 ? Optional.of("the log has no event of the domain") : log.obstacle();
    }

    /** Sequence of the last event taken; 0 before the first. */
    public long lastEvent() {
        return log.last();
    }

    /** The time that the last replayed event spoke of. */
    public Instant lastEventAt() {
        return log.state().now();
    }

    /** The scheduler in office after the last event. */
    public Optional<Scheduler> scheduler() {
        return log.scheduler();
    }

    /** Whether an operator has frozen the domain: then no plan is made. */
    public boolean isFrozen() {
        return log.state().mode().frozen();
    }

    /** Whether an operator has switched advisory mode on: then decisions are only advice. */
    public boolean isAdvisory() {
        return log.state().mode().isAdvisory();
    }

    /** The orders that are in force, with the level of trust. */
    public Mode mode() {
        return log.state().mode();
    }

    /** The advice that stands and may be approved, oldest first; only known where the log could be replayed. */
    public List<Decision> advice() {
        return log.state().advice().map(Advice::decisions).orElse(List.of());
    }

    /** What the advice of the replayed time would have gained. */
    public AdvisedGain gain() {
        return gain;
    }

    /**
     * What runs already and is claimed, with what is in the way of taking it over.
     *
     * @param at the time to judge by; that of the last event where it is later
     */
    public List<AdoptionClaim> claims(Instant at) {
        Instant now = at.isAfter(lastEventAt()) ? at : lastEventAt();
        return new AdoptionClaims(log.state().entities(), now, true).all();
    }

    /** The jobs and services that claim what runs already, have nothing yet, and wait; with their selectors. */
    public Map<Tenant, AdoptionSelector> waiting() {
        Map<Tenant, AdoptionSelector> waiting = new LinkedHashMap<>();
        ClusterEntities entities = log.state().entities();
        for (JobState job : entities.jobs().values()) {
            job.spec()
                    .adopt()
                    .filter(any -> job.awaitsAdoption() && !job.isOver())
                    .ifPresent(selector -> waiting.put(new Tenant.Job(job.spec().job()), selector));
        }
        for (ServiceState service : entities.services().values()) {
            ServiceId name = service.spec().service();
            service.spec()
                    .adopt()
                    .filter(any -> !entities.clusterIndex()
                            .gpus()
                            .replicasOf(name)
                            .iterator()
                            .hasNext())
                    .ifPresent(selector -> waiting.put(new Tenant.Service(name), selector));
        }
        return waiting;
    }

    /**
     * The nodes on which nothing was looked for since a tenant that waits declared its selector; none if all were, or
     * after five minutes.
     */
    public SortedSet<NodeId> unlooked(Tenant tenant) {
        return claims.unlooked(tenant, log.state().entities(), lastEventAt());
    }

    /** The units that others use, or of which that is not known, by name. */
    public SortedMap<GpuId, ForeignUse> foreign() {
        SortedMap<GpuId, ForeignUse> foreign = new TreeMap<>();
        for (GpuState unit : log.state().gpus().values()) {
            unit.owner().asForeign().ifPresent(use -> foreign.put(unit.gpuId(), use));
        }
        return foreign;
    }

    /**
     * The decisions that an order would have had right after the last event, without giving it.
     *
     * @return empty where the log could not be replayed
     */
    public List<Decision> answersTo(ControlCommand order) {
        Optional<Scheduler> office = obstacle().isPresent() ? Optional.empty() : log.scheduler();
        if (office.isEmpty()) {
            return List.of();
        }
        // Not at the order's own time: without the events up to then, rates would seem to be old.
        ClusterState state = log.state();
        DomainEvent event =
                new DomainEvent(state.domain(), state.epoch(), log.last() + 1, lastEventAt(), Optional.empty(), order);
        return office.get().step(state, event).decisions();
    }

    /** When training is planned next, unless the domain is frozen then. */
    public Optional<Instant> nextPlanAt() {
        return log.state().nextPlanAt();
    }
}

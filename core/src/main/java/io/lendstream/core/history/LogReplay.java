package io.lendstream.core.history;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.scheduler.DeclarableSettings;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.scheduler.StepListener;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.LogPosition;
import java.util.Optional;
import java.util.function.Function;

/**
 * A domain's log, replayed event by event with the schedulers that it names, as long as that can be done. It begins
 * with the log, or after a snapshot.
 */
final class LogReplay {
    private final Function<SchedulerStarted, Scheduler> schedulers;
    private ClusterState state;
    private Optional<LogPosition> start = Optional.empty();
    private long last;
    private Optional<Scheduler> scheduler = Optional.empty();
    private Optional<String> obstacle = Optional.empty();

    /** @param schedulers the scheduler that a log's start describes */
    LogReplay(DomainId domain, Function<SchedulerStarted, Scheduler> schedulers) {
        this.schedulers = schedulers;
        this.state = ClusterState.empty(domain);
    }

    /**
     * Begins after a snapshot, before the first event.
     *
     * @throws IllegalArgumentException if this version has no such scheduler
     */
    void startAfter(Snapshot snapshot) {
        state = snapshot.state();
        scheduler = Optional.of(schedulers.apply(snapshot.scheduler()).in(state));
        last = snapshot.sequence();
        start = Optional.of(state.position());
    }

    /** The position of the snapshot after which it began; empty if it began with the log. */
    Optional<LogPosition> start() {
        return start;
    }

    /** Whether an event was taken before. */
    boolean hasTaken(DomainEvent event) {
        return event.sequence() <= last;
    }

    /** Makes the step of the next event; empty where the log cannot be replayed so far. */
    Optional<Step> take(DomainEvent event, StepListener listener) {
        if (obstacle.isEmpty()) {
            obstacle = against(event);
        }
        last = event.sequence();
        if (obstacle.isPresent()) {
            return Optional.empty();
        }
        Scheduler office = scheduler.orElseThrow();
        Step step = office.step(state, event, listener);
        state = step.state();
        scheduler = Optional.of(office.in(state));
        return Optional.of(step);
    }

    /** The state after the last event that could be replayed. */
    ClusterState state() {
        return state;
    }

    /** Sequence of the last event taken; 0 before the first. */
    long last() {
        return last;
    }

    /** The scheduler in office, with the settings that the domain has declared. */
    Optional<Scheduler> scheduler() {
        return scheduler;
    }

    /** Why the log cannot be replayed; empty where it can. */
    Optional<String> obstacle() {
        return obstacle;
    }

    private Optional<String> against(DomainEvent event) {
        if (last == 0 && event.sequence() > 1) {
            return Optional.of(
                    "the log begins with event %d: earlier ones are no longer kept".formatted(event.sequence()));
        }
        if (event.sequence() != last + 1) {
            return Optional.of("event %d follows event %d in the log".formatted(event.sequence(), last));
        }
        Optional<SchedulerStarted> started = event.event().asStarted();
        if (started.isPresent()) {
            try {
                scheduler = Optional.of(schedulers.apply(started.get()));
            } catch (IllegalArgumentException e) {
                return Optional.of("this version has no such scheduler as started with event %d: %s"
                        .formatted(event.sequence(), e.getMessage()));
            }
        }
        Optional<String> unknown = event.event().asDomainSettings().flatMap(DeclarableSettings::problem);
        if (unknown.isPresent()) {
            return Optional.of("this version cannot follow event %d: %s".formatted(event.sequence(), unknown.get()));
        }
        return scheduler.isPresent()
                ? Optional.empty()
                : Optional.of("event %d comes before any scheduler started".formatted(event.sequence()));
    }
}

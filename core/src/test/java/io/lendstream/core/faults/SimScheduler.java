package io.lendstream.core.faults;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.ClusterStates;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** An instance of the scheduler over one domain. One that was replaced and does not know it goes on deciding. */
final class SimScheduler {
    private final Scheduler scheduler;
    private final Stepper stepper;
    private final Bug bug;
    private final Deque<Event> inbox;
    private ClusterState state;
    private boolean inOffice;

    /**
     * An instance that has read the log.
     *
     * @param state what the log comes to
     * @param inbox what it has not read of its topics
     */
    SimScheduler(Scheduler scheduler, Bug bug, ClusterState state, Deque<Event> inbox) {
        this(scheduler, Scheduler::step, bug, state, inbox);
    }

    /** One that may go wrong in its steps. */
    SimScheduler(Scheduler scheduler, Stepper stepper) {
        this(scheduler, stepper, Bug.NONE, ClusterState.empty(MixedCluster.DOMAIN), new ArrayDeque<>());
    }

    private SimScheduler(Scheduler scheduler, Stepper stepper, Bug bug, ClusterState state, Deque<Event> inbox) {
        this.scheduler = scheduler;
        this.stepper = stepper;
        this.bug = bug;
        this.state = state;
        this.inbox = new ArrayDeque<>(inbox);
    }

    /** What an event leads to, by a scheduler. */
    interface Stepper {
        Step step(Scheduler scheduler, ClusterState state, DomainEvent event);
    }

    /** An event with what came of it, and the state that the instance goes on with. */
    record Act(DomainEvent event, Step step, ClusterState state) {}

    void hear(Event event) {
        if (bug == Bug.LOST_REPORT && event instanceof ActuationReport report && report.outcome() == Outcome.RELEASED) {
            return;
        }
        inbox.add(event);
    }

    /**
     * Takes everything that it has heard, and the time. What waits to be read is no silence: it takes over at that
     * time.
     */
    List<Act> work(Instant now) {
        List<Act> acts = new ArrayList<>();
        if (!inOffice) {
            inOffice = true;
            Instant at = inbox.isEmpty() ? now : inbox.getFirst().at();
            acts.add(take(started(at.isAfter(state.now()) ? at : state.now())));
        }
        while (!inbox.isEmpty()) {
            acts.add(take(inbox.removeFirst()));
        }
        if (scheduler.nextTimer(state).filter(at -> !at.isAfter(now)).isPresent()) {
            acts.add(take(new Tick(state.domain(), now)));
        }
        return acts;
    }

    private SchedulerStarted started(Instant now) {
        SchedulerStarted started = scheduler.started(state, now);
        boolean reuses = bug == Bug.REUSED_EPOCH && state.epoch() > 0;
        return reuses
                ? new SchedulerStarted(
                        started.domain(),
                        started.at(),
                        state.epoch(),
                        started.policy(),
                        started.settings(),
                        started.decidesFrom())
                : started;
    }

    private Act take(Event event) {
        long epoch = event instanceof SchedulerStarted started ? started.epoch() : state.epoch();
        DomainEvent logged =
                new DomainEvent(state.domain(), epoch, state.eventSequence() + 1, event.at(), Optional.empty(), event);
        Step step = stepper.step(scheduler, state, logged);
        state = bug == Bug.BIND_BEFORE_RELEASE ? impatient(step.state()) : step.state();
        return new Act(logged, step, state);
    }

    private static ClusterState impatient(ClusterState state) {
        ClusterEntities entities = state.entities();
        for (GpuState gpu : state.gpus().values()) {
            if (gpu.owner() instanceof Owner.Releasing) {
                entities = entities.with(gpu.with(new Owner.Free(), gpu.since(), gpu.changedBy()));
            }
        }
        return ClusterStates.with(state, entities);
    }

    /** One that takes over from it, and one that it does not know of. */
    SimScheduler successor() {
        return new SimScheduler(scheduler, stepper, bug, state, inbox);
    }

    boolean isInOffice() {
        return inOffice;
    }

    ClusterState state() {
        return state;
    }
}

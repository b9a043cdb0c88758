package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.ClusterStates;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Advice;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Promise;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SlicePlan;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** The state of a story with some parts set by hand, so that a test needs no long way to reach it. */
final class EditedState {
    private ClusterState state;
    private Instant now;

    EditedState(Scenario story) {
        this.state = story.state();
        this.now = story.now();
    }

    ClusterState state() {
        return state;
    }

    Instant now() {
        return now;
    }

    /** Time passes and no event comes. */
    EditedState later(Duration time) {
        now = now.plus(time);
        return this;
    }

    EditedState owner(String gpu, Owner owner) {
        return gpu(gpu, known -> known.with(owner, now, state.eventSequence()));
    }

    EditedState gpu(String gpu, UnaryOperator<GpuState> change) {
        GpuId id = new GpuId(gpu);
        return with(state.entities().with(change.apply(state.gpus().require(id))));
    }

    EditedState job(String job, UnaryOperator<JobState> change) {
        JobId id = new JobId(job);
        return with(state.entities().with(change.apply(state.jobs().require(id))));
    }

    EditedState service(String service, UnaryOperator<ServiceState> change) {
        ServiceId id = new ServiceId(service);
        return with(state.entities().with(change.apply(state.services().require(id))));
    }

    /** A unit is promised to a tenant for a minute. */
    EditedState promised(String gpu, Tenant tenant) {
        state = ClusterStates.promising(state, List.of(new Promise(new GpuId(gpu), tenant, now.plusSeconds(60))));
        return this;
    }

    EditedState queue(QueueState queue) {
        return with(state.entities().with(queue));
    }

    EditedState slices(SlicePlan plan) {
        return with(state.nextPlanAt(), state.mode(), Optional.of(plan), state.advice());
    }

    EditedState mode(Mode mode) {
        return with(state.nextPlanAt(), mode, state.slices(), state.advice());
    }

    EditedState advised(Decision decision) {
        return with(state.nextPlanAt(), state.mode(), state.slices(), Optional.of(new Advice(List.of(decision))));
    }

    EditedState planAt(Instant time) {
        return with(Optional.of(time), state.mode(), state.slices(), state.advice());
    }

    private EditedState with(
            Optional<Instant> nextPlanAt, Mode mode, Optional<SlicePlan> slices, Optional<Advice> advice) {
        state = new ClusterState(
                state.domain(),
                state.position(),
                nextPlanAt,
                mode,
                state.pacing(),
                slices,
                advice,
                state.promises(),
                state.loanStarts(),
                state.entities());
        return this;
    }

    private EditedState with(ClusterEntities entities) {
        state = ClusterStates.with(state, entities);
        return this;
    }

    /** A step in the making, at a tick. */
    StepBuilder draft() {
        return new StepBuilder(state, logged(new Tick(Scenario.DOMAIN, now)), StepListener.NONE);
    }

    /** What a tick leads to now. */
    Step tick(Scheduler scheduler) {
        return tick(scheduler, StepListener.NONE);
    }

    Step tick(Scheduler scheduler, StepListener listener) {
        return scheduler.step(state, logged(new Tick(Scenario.DOMAIN, now)), listener);
    }

    Step step(Scheduler scheduler, Event event) {
        return scheduler.step(state, logged(event));
    }

    private DomainEvent logged(Event event) {
        return new DomainEvent(
                Scenario.DOMAIN, state.epoch(), state.eventSequence() + 1, event.at(), Optional.empty(), event);
    }
}

package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.Advice;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
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
        var gpus = state.gpus().put(id, change.apply(state.gpus().require(id)));
        state = new ClusterState(
                state.domain(),
                state.now(),
                state.epoch(),
                state.eventSequence(),
                state.decisionSequence(),
                state.nextPlanAt(),
                state.mode(),
                state.pacing(),
                state.slices(),
                state.advice(),
                state.nodes(),
                gpus,
                state.services(),
                state.jobs());
        return this;
    }

    EditedState job(String job, UnaryOperator<JobState> change) {
        JobId id = new JobId(job);
        var jobs = state.jobs().put(id, change.apply(state.jobs().require(id)));
        state = new ClusterState(
                state.domain(),
                state.now(),
                state.epoch(),
                state.eventSequence(),
                state.decisionSequence(),
                state.nextPlanAt(),
                state.mode(),
                state.pacing(),
                state.slices(),
                state.advice(),
                state.nodes(),
                state.gpus(),
                state.services(),
                jobs);
        return this;
    }

    EditedState service(String service, UnaryOperator<ServiceState> change) {
        ServiceId id = new ServiceId(service);
        var services = state.services().put(id, change.apply(state.services().require(id)));
        state = new ClusterState(
                state.domain(),
                state.now(),
                state.epoch(),
                state.eventSequence(),
                state.decisionSequence(),
                state.nextPlanAt(),
                state.mode(),
                state.pacing(),
                state.slices(),
                state.advice(),
                state.nodes(),
                state.gpus(),
                services,
                state.jobs());
        return this;
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
                state.now(),
                state.epoch(),
                state.eventSequence(),
                state.decisionSequence(),
                nextPlanAt,
                mode,
                state.pacing(),
                slices,
                advice,
                state.nodes(),
                state.gpus(),
                state.services(),
                state.jobs());
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

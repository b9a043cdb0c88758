package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Tick;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.state.Advice;
import io.lendstream.core.state.ClusterState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A step that does not come into force: a tick at which all phases run and a plan of training is due. It is the
 * scheduler's own step, so that it makes the decisions that the scheduler would make.
 */
final class Rehearsal {
    /** The step proposes all again, also what is advised already. */
    private static final Advice NO_ADVICE = new Advice(List.of());

    private final StepBuilder before;
    private final Step step;
    private final Notes notes;

    private Rehearsal(StepBuilder before, Step step, Notes notes) {
        this.before = before;
        this.step = step;
        this.notes = notes;
    }

    static Rehearsal of(Scheduler scheduler, ClusterState state, Instant at) {
        ClusterState due = state.planned(Optional.of(at), state.slices()).advised(NO_ADVICE, state.decisionSequence());
        DomainEvent tick = new DomainEvent(
                state.domain(),
                state.epoch(),
                state.eventSequence() + 1,
                at,
                Optional.empty(),
                new Tick(state.domain(), at));
        Notes notes = new Notes();
        Step step = scheduler.step(due, tick, notes, WorkDue.ALWAYS);
        return new Rehearsal(new StepBuilder(due, tick, StepListener.NONE), step, notes);
    }

    /** The state that it began with, for the questions that a step asks of it. */
    StepBuilder before() {
        return before;
    }

    /** The state that it would lead to. */
    ClusterState after() {
        return step.state();
    }

    /** The first decision about a unit. */
    Optional<Decision> decision(GpuId unit) {
        return step.decisions().stream()
                .filter(decision -> decision.action().gpus().contains(unit))
                .findFirst();
    }

    Notes notes() {
        return notes;
    }

    /** A plan, and what the policy saw when it made it. */
    record Planned(ClusterView view, Plan plan) {
        /** The job that is to have a GPU. */
        Optional<JobId> job(GpuId gpu) {
            return plan.targets().entrySet().stream()
                    .filter(target -> target.getValue().contains(gpu))
                    .map(Map.Entry::getKey)
                    .findFirst();
        }
    }

    /** The facts that the step gave to its listener. */
    static final class Notes implements StepListener {
        private final Map<ServiceId, ReplicaNeed> needs = new HashMap<>();
        private final Map<JobId, String> vetoes = new HashMap<>();
        private final Map<GpuId, String> unlent = new HashMap<>();
        private final List<Planned> plans = new ArrayList<>();
        private Set<GpuId> kept = Set.of();
        private String keptBy = "";
        private boolean hasJobs = true;
        private Optional<String> unplanned = Optional.empty();
        private Optional<String> unlendable = Optional.empty();

        Optional<ReplicaNeed> need(ServiceId service) {
            return Optional.ofNullable(needs.get(service));
        }

        /** Why a job does not get what the plan gives it. */
        Optional<String> veto(JobId job) {
            return Optional.ofNullable(vetoes.get(job));
        }

        /** Why a free MIG instance is lent to no job, or no policy is shown an idle GPU. */
        Optional<String> unlent(GpuId unit) {
            return Optional.ofNullable(unlent.get(unit));
        }

        /** Why the policy is not shown an idle GPU. */
        Optional<String> kept(GpuId gpu) {
            return kept.contains(gpu) ? Optional.of(keptBy) : Optional.empty();
        }

        boolean hasJobs() {
            return hasJobs;
        }

        /** Why no plan is made. */
        Optional<String> unplanned() {
            return unplanned;
        }

        /** Why the plan may lend nothing more. */
        Optional<String> unlendable() {
            return unlendable;
        }

        boolean hasPlan() {
            return !plans.isEmpty();
        }

        /** The plan for a GPU: several kinds, and several queues, are planned apart. */
        Optional<Planned> plan(GpuId gpu) {
            return plans.stream()
                    .filter(plan -> plan.job(gpu).isPresent())
                    .findFirst()
                    .or(() -> plans.stream()
                            .filter(plan -> plan.view().node(gpu).isPresent())
                            .findFirst())
                    .or(() -> plans.stream().findFirst());
        }

        @Override
        public void needed(Map<ServiceId, ReplicaNeed> all) {
            needs.putAll(all);
        }

        @Override
        public void jobless() {
            hasJobs = false;
        }

        @Override
        public void unplanned(String why) {
            unplanned = Optional.of(why);
        }

        @Override
        public void unlendable(String why) {
            unlendable = Optional.of(why);
        }

        @Override
        public void reserved(Set<GpuId> idle, String why) {
            kept = idle;
            keptBy = why;
        }

        @Override
        public void unlent(GpuId unit, String why) {
            unlent.put(unit, why);
        }

        @Override
        public void planned(ClusterView view, Plan made) {
            view.gpus(); // the policy need not have looked at them: this makes the view tell what it keeps
            plans.add(new Planned(view, made));
        }

        @Override
        public void vetoed(JobId job, String why) {
            vetoes.put(job, why);
        }
    }
}

package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.JobChange;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.scheduler.SafetyRule;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.scheduler.StepListener;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;

/** Explains a decision: replays its domain's log up to the step that made it, and observes that step. */
public final class Explainer {
    private final Decision recorded;
    private final LogReplay log;
    private final SortedMap<Long, DomainEvent> inputs = new TreeMap<>();
    private final Notes notes = new Notes();
    private Optional<Explanation.Made> made = Optional.empty();

    public Explainer(Decision recorded) {
        this(recorded, Scheduler::of);
    }

    /** @param schedulers the scheduler that a log's start describes */
    public Explainer(Decision recorded, Function<SchedulerStarted, Scheduler> schedulers) {
        this.recorded = recorded;
        this.log = new LogReplay(recorded.id().domain(), schedulers);
    }

    /**
     * Replays the log only after a snapshot, which must not contain the decision; to be called before the first event.
     *
     * @throws IllegalArgumentException if this version has no such scheduler
     */
    public Explainer after(Snapshot snapshot) {
        log.startAfter(snapshot);
        return this;
    }

    /**
     * Takes the next event of the domain's log; what comes after the decision is not looked at. Of events before the
     * start of the replay, those that led to the decision are kept.
     */
    public void take(DomainEvent event) {
        if (recorded.reason().inputs().contains(event.sequence()) && event.sequence() <= trigger()) {
            inputs.putIfAbsent(event.sequence(), event);
        }
        if (log.hasTaken(event) || isDone()) {
            return;
        }
        notes.begin(event);
        ClusterState before = log.state();
        Optional<Step> step = log.take(event, notes);
        if (event.sequence() == trigger()) {
            made = step.map(taken -> made(log.scheduler().orElseThrow(), before, taken));
        }
    }

    /** Whether the event that led to the decision was taken, or the replay cannot go on. */
    public boolean isDone() {
        return log.last() >= trigger() || log.obstacle().isPresent();
    }

    /** The explanation from the events taken so far. */
    public Explanation explanation() {
        List<Long> missing = recorded.reason().inputs().stream()
                .filter(input -> !inputs.containsKey(input))
                .toList();
        Optional<String> why = made.isPresent()
                ? Optional.empty()
                : log.obstacle().or(() -> Optional.of("the log has no event %d".formatted(trigger())));
        return new Explanation(recorded, List.copyOf(inputs.values()), missing, made, why, log.start());
    }

    /**
     * Whether the decision follows a plan that was made before the replay began, so that the plan's alternatives are
     * known only to a replay that begins earlier.
     */
    public boolean missesPlan() {
        return log.start().isPresent()
                && made.isPresent()
                && recorded.reason().is(ReasonCode.PLAN)
                && notes.plans.isEmpty();
    }

    /** The latest of its input events is the event that led to it. */
    private long trigger() {
        return recorded.reason().inputs().stream()
                .mapToLong(input -> input)
                .max()
                .orElse(0);
    }

    private Explanation.Made made(Scheduler current, ClusterState before, Step step) {
        Optional<Decision> again = step.decisions().stream()
                .filter(decision -> decision.id().equals(recorded.id()))
                .findFirst();
        Optional<Explanation.JobGpus> job = recorded.action().jobChange().map(change -> gpus(before, change));
        List<Explanation.Change> owners = changed(job).stream()
                .map(gpu -> new Explanation.Change(
                        gpu,
                        before.gpus().get(gpu).map(GpuState::owner),
                        step.state().gpus().get(gpu).map(GpuState::owner),
                        step.state().gpus().get(gpu).flatMap(GpuState::part)))
                .toList();
        boolean planned = recorded.reason().is(ReasonCode.PLAN);
        return new Explanation.Made(
                again,
                current.policy().spec(),
                step.state().mode(),
                job,
                owners,
                notes.rules,
                notes.needs,
                notes.plans.stream().filter(plan -> planned).map(Planned::by).findFirst(),
                planned ? sizes(current) : losses(current),
                notes.vetoes);
    }

    private static Explanation.JobGpus gpus(ClusterState before, JobChange change) {
        List<GpuId> held = before.jobs()
                .get(change.job())
                .map(known -> known.allocation().gpus())
                .orElse(List.of());
        return new Explanation.JobGpus(change.job(), held, change.allocation().gpus());
    }

    /** The GPUs that the decision names, and all that its job gains or gives up. */
    private SortedSet<GpuId> changed(Optional<Explanation.JobGpus> job) {
        SortedSet<GpuId> changed = new TreeSet<>(recorded.action().gpus());
        job.ifPresent(gpus -> {
            changed.addAll(gpus.gained());
            changed.addAll(gpus.givenUp());
        });
        return changed;
    }

    private List<Alternative> losses(Scheduler current) {
        return notes.reclaimed.stream()
                .filter(taking -> recorded.action().asReclaim().isPresent()
                        && taking.victims().containsAll(recorded.action().gpus()))
                .findFirst()
                .map(taking -> current.policy().losses(taking.view(), taking.count()))
                .orElse(List.of());
    }

    private List<Alternative> sizes(Scheduler current) {
        return recorded.action().jobChange().stream()
                .flatMap(change -> notes.plans.stream()
                        .filter(plan -> plan.has(change.job()))
                        .limit(1)
                        .flatMap(plan -> current.policy().sizes(plan.view(), change.job()).stream()))
                .toList();
    }

    private record Taking(ClusterView view, int count, List<GpuId> victims) {}

    private record Planned(DomainEvent by, ClusterView view) {
        boolean has(JobId job) {
            return view.jobs().stream().anyMatch(known -> known.job().equals(job));
        }
    }

    /** The notes on the present step and on the last plan. */
    private static final class Notes implements StepListener {
        private Optional<DomainEvent> event = Optional.empty();
        /** The last plans: one, or one for each kind of GPU. */
        private final List<Planned> plans = new ArrayList<>();

        /** The reclaims of the step: a service that can use only some kinds of GPUs has its own. */
        private final List<Taking> reclaimed = new ArrayList<>();

        private List<SafetyRule> rules = List.of();
        private SortedMap<ServiceId, ReplicaNeed> needs = new TreeMap<>();
        private SortedMap<String, String> vetoes = new TreeMap<>();

        void begin(DomainEvent next) {
            event = Optional.of(next);
            reclaimed.clear();
            rules = List.of();
            needs = new TreeMap<>();
            vetoes = new TreeMap<>();
        }

        @Override
        public void rulesStand(Supplier<List<SafetyRule>> standing) {
            rules = standing.get();
        }

        @Override
        public void needed(Map<ServiceId, ReplicaNeed> all) {
            needs = new TreeMap<>(all);
        }

        @Override
        public void reclaimed(ClusterView view, int count, List<GpuId> victims) {
            reclaimed.add(new Taking(view, count, List.copyOf(victims)));
        }

        @Override
        public void planned(ClusterView view, Plan made) {
            DomainEvent by = event.orElseThrow();
            plans.removeIf(plan -> !plan.by().equals(by));
            plans.add(new Planned(by, view));
        }

        @Override
        public void vetoed(JobId job, String why) {
            vetoes.put(job.value(), why);
        }
    }
}

package io.lendstream.core.scheduler;

import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.KindId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.Promise;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The scheduler as a pure function: a state and an event give the next state and the decisions. Equal inputs give equal
 * outputs in the Streams topology, the simulator, the history checker and the tests.
 *
 * <p>A step has four parts: the state follows the event, {@link WorkDue} selects the phases, they run in the order of
 * {@link Phase}, and the builder gives the next state with the decisions. Events that change nothing only update the
 * state; due deadlines are handled at the next tick.
 *
 * @param latencies the known latencies of models; services without known latencies do not run on MIG instances
 * @param decidesFrom the time from which decisions are made. Earlier events are applied without decisions, because no
 *     actuator could keep their deadlines; earlier approvals are void. Empty if there was no backlog
 * @param overlay the declared settings of the domain that policy and settings contain; empty without any
 */
public record Scheduler(
        Policy policy,
        SchedulerSettings settings,
        Latencies latencies,
        Optional<Instant> decidesFrom,
        Optional<Overlay> overlay) {
    /**
     * Declared settings of a domain.
     *
     * @param policy that of the scheduler's start
     * @param settings those of the scheduler's start
     */
    public record Overlay(DomainSettings declared, Policy policy, SchedulerSettings settings) {}

    /** A scheduler of a domain without declared settings. */
    public Scheduler(Policy policy, SchedulerSettings settings, Latencies latencies, Optional<Instant> decidesFrom) {
        this(policy, settings, latencies, decidesFrom, Optional.empty());
    }

    public Scheduler(Policy policy, SchedulerSettings settings, Latencies latencies) {
        this(policy, settings, latencies, Optional.empty());
    }

    public Scheduler(Policy policy, SchedulerSettings settings) {
        this(policy, settings, Latencies.LEARNED);
    }

    /** The scheduler that a log's {@link SchedulerStarted} describes. */
    public static Scheduler of(SchedulerStarted started) {
        return new Scheduler(Policies.parse(started.policy()), SchedulerSettings.of(started.settings()))
                .decidingFrom(started.decidesFrom());
    }

    /** The same with a backlog up to a time. */
    public Scheduler decidingFrom(Optional<Instant> time) {
        return new Scheduler(policy, settings, latencies, time, overlay);
    }

    /** The same with a phase for its times of plans. */
    public Scheduler planningAt(Duration phase) {
        Scheduler start = atStart();
        return new Scheduler(start.policy, start.settings.withPlanPhase(phase), latencies, decidesFrom);
    }

    /** The same with the settings that a state's domain has declared; itself if they have not changed. */
    public Scheduler in(ClusterState state) {
        return with(state.mode().declared());
    }

    /** The same with declared settings that have no {@link DeclarableSettings#problem}, or without any. */
    public Scheduler with(Optional<DomainSettings> declared) {
        if (declared.equals(overlay.map(Overlay::declared))) {
            return this;
        }
        Scheduler start = atStart();
        return declared.map(start::over).orElse(start);
    }

    private Scheduler over(DomainSettings declared) {
        return new Scheduler(
                DeclarableSettings.over(policy, declared),
                DeclarableSettings.over(settings, declared),
                latencies,
                decidesFrom,
                Optional.of(new Overlay(declared, policy, settings)));
    }

    /** Without declared settings. */
    private Scheduler atStart() {
        return overlay.map(from -> new Scheduler(from.policy(), from.settings(), latencies, decidesFrom))
                .orElse(this);
    }

    /**
     * The event of this scheduler's takeover of a domain. It has the settings of the configuration, without declared
     * ones. For readers it also carries the level of trust.
     */
    public SchedulerStarted started(ClusterState state, Instant at) {
        Scheduler start = atStart();
        Map<String, String> carried = start.settings.toMap();
        state.mode()
                .trust()
                .ifPresent(trust -> carried.put("trust", trust.level().label()));
        return new SchedulerStarted(state.domain(), at, state.epoch() + 1, start.policy.spec(), carried, decidesFrom);
    }

    /** What {@link #of} needs to make this scheduler again, as it is in office in a state. */
    public SchedulerStarted inOffice(ClusterState state) {
        Scheduler start = atStart();
        return new SchedulerStarted(
                state.domain(), state.now(), state.epoch(), start.policy.spec(), start.settings.toMap(), decidesFrom);
    }

    /** Applies an event. Declared settings of the domain are in force, from the step of their declaration on. */
    public Step step(ClusterState state, DomainEvent event) {
        return step(state, event, StepListener.NONE);
    }

    /** The same, with a listener. */
    public Step step(ClusterState state, DomainEvent event, StepListener listener) {
        return step(state, event, listener, WorkDue.BY_EVENT);
    }

    Step step(ClusterState state, DomainEvent event, StepListener listener, WorkDue work) {
        Optional<DomainSettings> declared = event.event()
                .asDomainSettings()
                .map(DomainSettings::standing)
                .orElse(state.mode().declared());
        return with(declared).stepInForce(state, event, listener, work);
    }

    private Step stepInForce(ClusterState state, DomainEvent event, StepListener listener, WorkDue work) {
        StepBuilder step = applied(state, event, listener);
        TrustLadder trust = new TrustLadder(step, policy, settings);
        trust.follow();
        if (isOver(step.now())) {
            trust.answer();
            new JobChanges(step, settings).dropLostGpus(false);
            return step.finished();
        }
        Set<Phase> due = work.after(this, step);
        boolean isAnswered = followApproval(step) || trust.answer();
        if (step.mode().level().onlyObserves()) {
            return observedOnly(step, due);
        }
        if (step.mode().isAdvisory()) {
            Step observed = observed(step);
            boolean isDone =
                    due.isEmpty() || isAnswered || !observed.decisions().isEmpty();
            return isDone ? observed : advised(observed, applied(state, event, listener), due);
        }
        new TransferPace(step, settings).observe(event.event());
        run(due, step);
        return step.finished();
    }

    /** A step with the event applied and no decisions yet. */
    private StepBuilder applied(ClusterState state, DomainEvent event, StepListener listener) {
        if (event.sequence() != state.eventSequence() + 1) {
            throw new IllegalArgumentException(
                    "event %d of domain %s cannot follow event %d: the log has a gap or repeats"
                            .formatted(event.sequence(), state.domain(), state.eventSequence()));
        }
        StepBuilder step = new StepBuilder(state, event, listener);
        new EventApplier(step, policy, settings).take(event.event());
        new SloWatch(step, policy, settings).follow();
        LoweredLimits.mark(step);
        step.promises().end(step);
        new ServiceRemoval(step).end();
        return step;
    }

    /** Whether a time is too old for decisions. */
    private boolean isOver(Instant time) {
        return decidesFrom.filter(time::isBefore).isPresent();
    }

    /** Makes a binding decision of approved advice, if the event is an approval. */
    private boolean followApproval(StepBuilder step) {
        Optional<ControlCommand> approval =
                step.event().asCommand().filter(command -> command.kind() == ControlCommand.Kind.APPROVE);
        approval.ifPresent(command -> new Approval(step, settings).follow(command));
        return approval.isPresent();
    }

    /**
     * In advisory mode, deadlines pass without decisions. What runs already is taken over all the same, and its loans
     * are renewed. Loans from before a fall of the level of trust are reclaimed.
     */
    private Step observed(StepBuilder step) {
        Phase.ADOPTION.run(this, step);
        Deadlines deadlines = new Deadlines(step, settings);
        deadlines.expire(false);
        new JobChanges(step, settings).dropLostGpus(false);
        new TrustReturns(step, settings).takeBackOlder();
        new AdoptedLeases(step, settings).renew();
        return step.finished();
    }

    /** At the lowest level of trust no advice is given either; plans that are due are passed over. */
    private Step observedOnly(StepBuilder step, Set<Phase> due) {
        if (due.contains(Phase.PLAN)) {
            step.nextPlanAt(new PlanTimes(policy, settings).next(step.now()));
        }
        return observed(step);
    }

    private Step advised(Step observed, StepBuilder advice, Set<Phase> due) {
        run(due, advice);
        return advice.advised(observed, due.contains(Phase.PLAN));
    }

    /** Runs the phases. Services are asked again if one of them gave up free GPUs that it was promised. */
    private void run(Set<Phase> due, StepBuilder step) {
        if (!due.isEmpty()) {
            step.listener().rulesStand(() -> new Safety(settings).rules(step));
        }
        List<Promise> promises = List.copyOf(step.promises().all());
        for (Phase phase : due) {
            phase.run(this, step);
        }
        if (due.contains(Phase.ALL_SERVICES) && step.promises().haveFreed(step, promises)) {
            step.promises().end(step);
            Phase.ALL_SERVICES.run(this, step);
        }
    }

    /** The need of a service at a time by this scheduler, on whole GPUs. */
    public ReplicaNeed need(ServiceState service, Instant now) {
        return Inference.need(policy, settings, service, now);
    }

    /**
     * The same by the kinds of GPU of the domain and of the service's replicas, which count if the service declares its
     * capacity on kinds.
     */
    public ReplicaNeed need(
            ServiceState service, Instant now, Collection<KindId> ofDomain, List<Optional<KindId>> ofReplicas) {
        if (service.spec().takesKindsAsAlike() || service.spec().hasGroups() || ofDomain.isEmpty()) {
            return need(service, now);
        }
        ServiceState counted =
                service.describedBy(service.spec().countedBy(settings.model().gpuKinds()));
        return KindNeed.need(policy, settings, counted, now, ofDomain, ofReplicas);
    }

    /** Whether a state allows that GPUs are taken from tenants for quotas. */
    public boolean takesForQuotas(ClusterState state) {
        return !state.mode().frozen()
                && !state.mode().isAdvisory()
                && !isOver(state.now())
                && !new Safety(in(state).settings).tooManyNodesStale(state.clusterIndex(), state.now());
    }

    /** The next time at which the domain needs a tick if no event comes before. */
    public Optional<Instant> nextTimer(ClusterState state) {
        return decidesFrom.filter(state.now()::isBefore).or(() -> Deadlines.next(state, in(state).settings));
    }
}

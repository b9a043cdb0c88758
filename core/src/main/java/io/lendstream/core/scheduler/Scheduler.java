package io.lendstream.core.scheduler;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The centre: a state and an event give the next state and the decisions. Equal inputs give equal outputs, whoever asks:
 * the Streams topology, the simulator, the history checker, the tests.
 *
 * <p>A step observes the event, lets deadlines pass, gives inference what it needs, tells it how to batch, plans training when
 * it is time, moves jobs towards the plan, and renews leases. Events that only say that all is as it was, or that a service has
 * what it needs, are observed and nothing more; what is due by then waits for the next tick ({@link #nextTimer}).
 *
 * @param latencies what is known of models; services of which nothing is are not served on MIG instances
 * @param decidesFrom before which nothing is decided, for it is over: nobody could keep the deadlines of such decisions, and what
 *     they asked for would be put out of service. What happened then is observed; approvals of then are void. Empty where no
 *     events had waited for this scheduler
 */
public record Scheduler(Policy policy, SchedulerSettings settings, Latencies latencies, Optional<Instant> decidesFrom) {
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

    /** The same, where events have waited for it until a time. */
    public Scheduler decidingFrom(Optional<Instant> time) {
        return new Scheduler(policy, settings, latencies, time);
    }

    /** The same, that plans training so long after the times of others. */
    public Scheduler planningAt(Duration phase) {
        return new Scheduler(policy, settings.withPlanPhase(phase), latencies, decidesFrom);
    }

    /** The event by which this scheduler takes a domain over. */
    public SchedulerStarted started(ClusterState state, Instant at) {
        return new SchedulerStarted(
                state.domain(), at, state.epoch() + 1, policy.spec(), settings.toMap(), decidesFrom);
    }

    /** What an event leads to. */
    public Step step(ClusterState state, DomainEvent event) {
        return step(state, event, StepListener.NONE);
    }

    /** The same, with somebody who looks on. */
    public Step step(ClusterState state, DomainEvent event, StepListener listener) {
        if (event.sequence() != state.eventSequence() + 1) {
            throw new IllegalArgumentException(
                    "event %d of domain %s cannot follow event %d: the log has a gap or repeats"
                            .formatted(event.sequence(), state.domain(), state.eventSequence()));
        }
        StepBuilder builder = new StepBuilder(state, event, listener);
        boolean wereTooManyNodesStale = tooManyNodesStale(builder);
        new EventApplier(builder).take(event.event());
        if (decidesFrom.filter(builder.now()::isBefore).isPresent()) {
            new JobChanges(builder, settings).dropLostGpus(false);
            return builder.finished();
        }
        boolean matters = matters(builder, event.event()) || (wereTooManyNodesStale && !tooManyNodesStale(builder));
        boolean isApproval = isApproval(event.event());
        if (isApproval) {
            new Approval(builder, settings).follow((ControlCommand) event.event());
        }
        if (!builder.mode().advisory()) {
            new TransferPace(builder, settings).observe(event.event());
            if (matters) {
                decide(builder);
            }
            return builder.finished();
        }
        new Deadlines(builder, settings).expire(false);
        new JobChanges(builder, settings).dropLostGpus(false);
        Step observed = builder.finished();
        if (isApproval || !matters) {
            return observed;
        }
        StepBuilder advice = new StepBuilder(state, event, listener);
        new EventApplier(advice).take(event.event());
        decide(advice);
        return advice.advised(observed);
    }

    private static boolean isApproval(Event event) {
        return event instanceof ControlCommand command && command.kind() == ControlCommand.Kind.APPROVE;
    }

    /** Whether so few nodes are heard of that nothing is changed. */
    private boolean tooManyNodesStale(StepBuilder builder) {
        return new Safety(settings).tooManyNodesStale(builder);
    }

    /** Whether an event can lead to decisions. */
    private boolean matters(StepBuilder builder, Event event) {
        if (event instanceof GpuTelemetry || event instanceof TrainingProgress || event instanceof ActuationReport) {
            return builder.matters();
        }
        if (event instanceof RequestRate rate) {
            return wants(builder, rate.service());
        }
        if (event instanceof DemandForecast forecast) {
            return policy.info().looksAhead() && wants(builder, forecast.service());
        }
        return true;
    }

    /** Whether a service may want something other than it has. Those on slices and those that batch are always looked at. */
    private boolean wants(StepBuilder builder, ServiceId service) {
        if (builder.slices().isPresent() || settings.repartition()) {
            return true;
        }
        return builder.services()
                .get(service)
                .filter(known ->
                        known.batches().isPresent() || !new Inference(builder, policy, settings).isContent(known))
                .isPresent();
    }

    private void decide(StepBuilder builder) {
        builder.listener().guarded(() -> new Safety(settings).guards(builder));
        Deadlines deadlines = new Deadlines(builder, settings);
        Training training = new Training(builder, policy, settings);
        deadlines.expire(true);
        new JobChanges(builder, settings).dropLostGpus(true);
        if (tooManyNodesStale(builder)) {
            training.planIfDue();
            training.planAfterChange();
            return;
        }
        new Repartitioning(builder, policy, settings, latencies).go();
        serve(builder);
        training.planIfDue();
        training.carryOut(Map.of());
        deadlines.keepLeases();
        training.planAfterChange();
    }

    private void serve(StepBuilder builder) {
        Inference inference = new Inference(builder, policy, settings);
        if (builder.isReport() && wasServing(builder) && inference.nobodyWaits()) {
            return;
        }
        Optional<ServiceState> heard =
                builder.heard().filter(service -> !settings.repartition() && inference.isAlone());
        heard.ifPresentOrElse(inference::serve, inference::serve);
        new BatchChanges(builder, settings)
                .adjust(heard.<Iterable<ServiceState>>map(List::of).orElseGet(builder.services()::values));
    }

    /** Whether services were given whole GPUs, and no mere advice, already before this event. */
    private boolean wasServing(StepBuilder builder) {
        return !settings.repartition()
                && !builder.mode().advisory()
                && decidesFrom.filter(builder.previously()::isBefore).isEmpty();
    }

    /** When the domain next needs a tick though nothing else happens. */
    public Optional<Instant> nextTimer(ClusterState state) {
        return decidesFrom.filter(state.now()::isBefore).or(() -> Deadlines.next(state, settings));
    }
}

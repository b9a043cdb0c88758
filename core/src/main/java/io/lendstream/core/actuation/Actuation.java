package io.lendstream.core.actuation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What an actuator does with decisions, and what it reports: obeys the latest epoch, each decision once and none that is
 * only advice; binds a GPU only when nobody has it; and returns a GPU when its lease runs out. How long things take, and
 * what goes wrong, is the {@link DelayModel}'s.
 *
 * <p>It has no clock: it is told the time with every call, and reports come in the order of their times. Everything that
 * changes a job names all the job's GPUs afterwards; what the job has and is not named is released, what is named and
 * the job has not is bound. A decision that cannot be carried out as a whole is refused as a whole; what the
 * allocation names but the job cannot have, such as a GPU whose lease has just run out, is left out instead.
 *
 * <p>What a {@link ChangeTiming} says beforehand is done by itself, in simulation. What is {@link ChangeTiming#DRIVEN} is ordered from a driver,
 * which tells what it has done; where it does not leave in time, killing is ordered, again and again until it has left: nothing is
 * reported as free before it is.
 *
 * <p>When a job is changed again before the last change is in force, both are reported applied together: the older as
 * superseded.
 */
public final class Actuation {
    /** How long killing may take before it is ordered again. */
    static final Duration KILL_AGAIN = Duration.ofSeconds(10);
    /** How long after a decision's deadline it counts as not achieved that it is in force. */
    static final Duration PATIENCE = Duration.ofMinutes(5);
    /** How long after a restart what ran before it may take to be seen again; who is overloaded does not answer at once. */
    static final Duration RETURN = Duration.ofMinutes(5);

    private final ActuationState state;

    /**
     * @param actuator its name in reports
     * @param leaseNotice how long a job gets to leave a GPU whose lease has run out
     */
    public Actuation(String actuator, Duration leaseNotice, DelayModel delays) {
        this.state = new ActuationState(actuator, leaseNotice, delays);
    }

    /** Goes on where another left off; it still has to be told of nodes, jobs and services. */
    public static Actuation restore(
            String actuator, Duration leaseNotice, DelayModel delays, ActuationSnapshot snapshot) {
        var actuation = new Actuation(actuator, leaseNotice, delays);
        actuation.state.restore(snapshot);
        return actuation;
    }

    public ActuationSnapshot snapshot() {
        return state.snapshot();
    }

    /** Learns which GPUs there are. GPUs of a node of an unknown pool are never used. */
    public void know(Node node) {
        state.inventory().declare(node);
    }

    /** Whether a GPU may be used by decisions of a domain: a GPU that two domains declare is that of the first. */
    public boolean isOf(DomainId domain, GpuId gpu) {
        return !state.inventory().isElsewhere(domain, gpu);
    }

    public void know(TrainingJob job) {
        state.know(job);
    }

    public void know(InferenceService service) {
        state.know(service);
    }

    /** Removes a node from a domain. A node of the same name in another domain stays. */
    public void forget(DomainId domain, NodeId node) {
        state.inventory().forget(domain, node);
    }

    /** A node has failed with all that ran on it: its GPUs have no tenant any more, and nothing more is reported of them. */
    public void lose(NodeId node) {
        UnitInventory inventory = state.inventory();
        for (DomainId domain : inventory.domainsOf(node)) {
            List<GpuId> gone = inventory.unitsOf(domain, node);
            state.steps().withdraw(gone, step -> true);
            state.free(gone);
            inventory.forget(domain, node);
        }
    }

    public void forget(DomainId domain, JobId job) {
        state.forget(domain, job);
    }

    public void forget(DomainId domain, ServiceId service) {
        state.forget(domain, service);
    }

    /** The domain whose decisions a job follows that has GPUs. */
    public Optional<DomainId> home(JobId job) {
        return state.home(new Tenant.Job(job));
    }

    /** Who has which GPU, in the order of the GPUs. */
    public Collection<Holding> holdings() {
        return state.holdings();
    }

    /** Whether a tenant is a driver's, who tells what becomes of it. */
    public boolean isDriven(Tenant tenant) {
        return state.orders().place(tenant).isPresent();
    }

    /** How often something was refused, by cause. */
    public Map<Refusal, Long> refusals() {
        return state.refusals();
    }

    /** The last decision of a domain that it has seen. */
    public Optional<DecisionId> latest(DomainId domain) {
        return state.latest(domain);
    }

    /** Up to when it has done what was due. */
    public Instant clock() {
        return state.clock();
    }

    /** When it next has something to do by itself. */
    public Optional<Instant> nextEventAt() {
        Optional<Instant> step = state.steps().nextDue();
        Optional<Instant> lease = state.nextLeaseEnd();
        if (step.isEmpty() || lease.isEmpty()) {
            return step.or(() -> lease);
        }
        return step.get().isAfter(lease.get()) ? lease : step;
    }

    /**
     * Takes a decision up, or refuses it.
     *
     * @param now when it was learned; what was due until then is reported first, save that a lease that ends this very
     *     moment may still be renewed
     */
    public List<ActuationReport> take(Decision decision, Instant now) {
        var reports = new ArrayList<ActuationReport>();
        carryOn(now, false, reports);
        Optional<DecisionFence.Objection> objection = new DecisionFence(state).objection(decision);
        if (objection.isPresent()) {
            DecisionFence.Objection why = objection.get();
            state.refuse(decision, why.refusal(), decision.action().gpus(), why.text(), reports);
            return reports;
        }
        decision.action().match(new DecisionHandler(state, decision, reports));
        carryOn(now, false, reports);
        return reports;
    }

    /** Does, and reports, everything that is due by now, each with its own time. */
    public List<ActuationReport> advance(Instant now) {
        var reports = new ArrayList<ActuationReport>();
        carryOn(now, true, reports);
        return reports;
    }

    /**
     * Who has which GPU, as reports; GPUs on which something is under way, or not yet seen again after a restart, are left out, and domains that have decided nothing yet. A
     * scheduler that believes otherwise has missed something.
     */
    public List<ActuationReport> stock() {
        var reports = new ArrayList<ActuationReport>();
        Set<GpuId> unseen = state.steps().unconfirmed();
        state.latest().forEach((domain, decision) -> {
            var byTenant = new HashMap<Optional<Tenant>, List<GpuId>>();
            for (GpuId gpu : state.inventory().unitsOf(domain)) {
                Optional<Holding> holding = state.holding(gpu);
                if (unseen.contains(gpu)) {
                    continue;
                }
                if (holding.map(Holding::phase)
                        .filter(phase -> phase != Holding.Phase.BOUND)
                        .isEmpty()) {
                    byTenant.computeIfAbsent(holding.map(Holding::tenant), any -> new ArrayList<>())
                            .add(gpu);
                }
            }
            byTenant.entrySet().stream()
                    .map(entry ->
                            state.report(decision, Outcome.HOLDS, entry.getValue(), entry.getKey(), Timings.NONE, ""))
                    .sorted(Comparator.comparing(report -> report.gpus().get(0)))
                    .forEach(reports::add);
        });
        return reports;
    }

    /** What drivers are to do, since this was last asked. */
    public List<Order> orders() {
        return state.orders().take();
    }

    /**
     * All that drivers are to bring about or to keep, to be given again after a restart. What ran before it may be gone without a
     * word.
     *
     * @param isSeen whether the driver sees itself what runs: what it does not say in time to be there is killed then, and counts as
     *     gone. Silence of one who asks others may mean that those are away, and calls for nothing
     */
    public List<Order> resume(Instant now, boolean isSeen) {
        state.orders().take();
        PendingSteps steps = state.steps();
        steps.removeIf(step -> step.kind() == PendingStep.Kind.RETURN);
        Instant by = PendingStep.later(now, state.clock()).plus(RETURN);
        for (Order.Place place : state.orders().places()) {
            List<GpuId> bound = place.units().stream()
                    .filter(unit -> state.isBound(place.tenant(), unit))
                    .toList();
            if (isSeen && !bound.isEmpty()) {
                steps.await(
                        state.clock(),
                        by,
                        PendingStep.Kind.RETURN,
                        PendingSteps.Subject.of(place.decision(), place.tenant(), bound),
                        "");
            }
        }
        List<Order> standing = new ArrayList<>(state.orders().placesByDecision());
        standing.addAll(state.orders().cuts());
        for (PendingStep step : steps.all()) {
            if (step.driven() && step.kills()) {
                standing.add(new Order.Force(step.decision(), step.tenant().orElseThrow(), step.gpus()));
            }
        }
        return standing;
    }

    /** What a driver tells; returns what there is to report of it. */
    public List<ActuationReport> done(DriverEvent driverEvent, Instant now) {
        var reports = new ArrayList<ActuationReport>();
        carryOn(now, false, reports);
        new DriverFeedback(state, reports).take(driverEvent);
        return reports;
    }

    private void carryOn(Instant now, boolean leasesToo, List<ActuationReport> reports) {
        Instant upTo = PendingStep.later(now, state.clock());
        while (true) {
            Optional<Instant> lease =
                    state.nextLeaseEnd().filter(end -> leasesToo ? !end.isAfter(upTo) : end.isBefore(upTo));
            Optional<PendingStep> step = state.steps().takeDue(lease.orElse(upTo));
            if (step.isPresent()) {
                state.reach(step.get().due());
                end(step.get(), reports);
            } else if (lease.isPresent()) {
                state.reach(lease.get());
                new LeaseExpiry(state).end(lease.get());
            } else {
                state.reach(upTo);
                return;
            }
        }
    }

    private void end(PendingStep step, List<ActuationReport> reports) {
        if (step.driven()) {
            new DriverFeedback(state, reports).overdue(step);
        } else {
            state.complete(step, reports);
        }
    }
}

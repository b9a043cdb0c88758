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
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The state machine of an actuator: decisions, driver events and time in, reports and orders out.
 *
 * <p>It follows the latest epoch only, obeys each decision once and ignores advisory decisions. It binds a GPU only
 * when the GPU is free, and takes a GPU back when its lease ends. It has no clock: every call brings the time, and
 * reports are in the order of their times.
 *
 * <p>An actuator may be {@linkplain #keepTo kept to} some nodes. It then takes its part of a decision.
 *
 * <p>A decision about a job names all GPUs that the job has afterwards. GPUs that the job has and that are not named
 * are released; named GPUs that it does not have are bound. A decision that cannot be carried out is refused as a
 * whole. GPUs that only the allocation names and that the job cannot have, such as one whose lease has just ended, are
 * left out.
 *
 * <p>Every change is ordered from a {@linkplain ChangeDriver driver}, which reports each step. If a tenant does not
 * leave by the deadline, the actuation orders a kill, and repeats the order until the driver reports that the tenant is
 * gone. No GPU is reported as free before that. An {@link InStepDriver}, such as a simulated one, gets its orders and
 * reports its events here, in the order of times; an event at a deadline is in time. For other drivers the caller does
 * both, by {@link #orders} and {@link #done}.
 *
 * <p>If a job is changed again before the last change is in force, both are reported as applied together, the older one
 * as superseded.
 */
public final class Actuation {
    private final ActuationState state;
    private final Optional<InStepDriver> inStep;
    private final SlotMatching slots;

    /**
     * @param actuator its name in reports
     * @param leaseNotice how long a job gets to leave a GPU whose lease has run out
     */
    public Actuation(String actuator, Duration leaseNotice, ChangeDriver driver) {
        this.state = new ActuationState(actuator, leaseNotice, driver);
        this.inStep = driver.inStep();
        this.slots = new SlotMatching(state);
    }

    /** Continues from saved state. Nodes, jobs and services are not part of it and have to be declared again. */
    public static Actuation restore(
            String actuator, Duration leaseNotice, ChangeDriver driver, ActuationSnapshot snapshot) {
        var actuation = new Actuation(actuator, leaseNotice, driver);
        actuation.state.restore(snapshot);
        return actuation;
    }

    /** The state to be saved. */
    public ActuationSnapshot snapshot() {
        return state.snapshot();
    }

    /**
     * Executes decisions about some nodes only, and reports nothing about others; all nodes if none is named. It is
     * called before nodes are known.
     */
    public void keepTo(List<NodeId> nodes) {
        state.inventory().keepTo(nodes);
    }

    /** From now on a decision past its deadline gives no GPU. In a simulation no decision is late. */
    public void refuseLate() {
        state.refuseLate();
    }

    /** Whether a decision is about this actuator's nodes at all, so that it reports on it. */
    public boolean isAbout(Decision decision) {
        return new DecisionScope(state).concerns(decision);
    }

    /** Learns which GPUs there are. GPUs of a node of an unknown pool are never used. */
    public void know(Node node) {
        state.inventory().declare(node);
    }

    /** Whether decisions of a domain may use a GPU. A GPU that two domains declare belongs to the first. */
    public boolean isOf(DomainId domain, GpuId gpu) {
        return !state.inventory().isElsewhere(domain, gpu);
    }

    public void know(TrainingJob job) {
        state.tenants().know(job);
    }

    public void know(InferenceService service) {
        state.tenants().know(service);
    }

    /** Removes a node from a domain. A node of the same name in another domain stays. */
    public void forget(DomainId domain, NodeId node) {
        state.inventory().forget(domain, node);
    }

    /**
     * A node has failed with all that ran on it: its GPUs have no tenant any more, and nothing more is reported of
     * them.
     */
    public void lose(NodeId node) {
        UnitInventory inventory = state.inventory();
        for (DomainId domain : inventory.domainsOf(node)) {
            List<GpuId> gone = inventory.unitsOf(domain, node);
            state.lose(gone);
            inventory.forget(domain, node);
        }
    }

    public void forget(DomainId domain, JobId job) {
        slots.forget(new Tenant.Job(job));
        state.tenants().forget(domain, job);
    }

    public void forget(DomainId domain, ServiceId service) {
        slots.forget(new Tenant.Service(service));
        state.tenants().forget(domain, service);
    }

    /** The domain whose decisions a job follows; empty if the job has no GPUs. */
    public Optional<DomainId> home(JobId job) {
        return state.home(new Tenant.Job(job));
    }

    /** The GPUs that have a tenant, sorted by GPU. */
    public List<Holding> holdings() {
        return state.holdings();
    }

    /** The last order about each tenant, by tenant. */
    public List<Order.Place> places() {
        return List.copyOf(state.orders().places());
    }

    /** How many GPUs have a tenant. */
    public int heldGpus() {
        return state.held();
    }

    /** Whether events about a tenant come from outside, by {@link #done}. */
    public boolean isHeardFromOutside(Tenant tenant) {
        return inStep.isEmpty() && state.orders().place(tenant).isPresent();
    }

    /** How many decisions, or parts of them, were refused, by cause. */
    public Map<Refusal, Long> refusals() {
        return state.refusals();
    }

    /** The last decision of a domain that arrived. */
    public Optional<DecisionId> latest(DomainId domain) {
        return state.latest(domain);
    }

    /** The time up to which everything due is done. */
    public Instant clock() {
        return state.clock();
    }

    /** When {@link #advance} next has something to do. */
    public Optional<Instant> nextEventAt() {
        return Stream.of(
                        nextEvent().map(ExpectedEvent::at),
                        state.steps().first().map(PendingStep::due),
                        state.nextLeaseEnd())
                .flatMap(Optional::stream)
                .min(Comparator.naturalOrder());
    }

    private Optional<ExpectedEvent> nextEvent() {
        return inStep.isPresent() ? inStep.get().next() : Optional.empty();
    }

    /**
     * Starts the change that a decision asks for, or refuses it.
     *
     * @param now when the decision arrived. Steps due before that time are reported first; a lease that ends at exactly
     *     this time can still be renewed
     */
    public List<ActuationReport> take(Decision decision, Instant now) {
        var reports = new ArrayList<ActuationReport>();
        carryOn(now, false, reports);
        DecisionScope scope = new DecisionScope(state);
        boolean isMine = scope.concerns(decision);
        Optional<DecisionFence.Objection> objection = new DecisionFence(state).objection(decision);
        if (!isMine || decision.action().isHold()) { // a hold asks for nothing, so it is never answered
            return delivered(reports);
        }
        if (objection.isPresent()) {
            DecisionFence.Objection why = objection.get();
            state.refuse(decision, why.refusal(), scope.own(decision.action().gpus()), why.text(), reports);
            return delivered(reports);
        }
        slots.relabel(decision);
        reports.addAll(decision.action().match(new DecisionHandler(state, decision)));
        carryOn(now, false, reports);
        return delivered(reports);
    }

    /** Does and reports everything that is due by now, each step with its own time. */
    public List<ActuationReport> advance(Instant now) {
        var reports = new ArrayList<ActuationReport>();
        carryOn(now, true, reports);
        return delivered(reports);
    }

    /** Does and reports what is due before a decision that arrives now, as {@link #take} does first. */
    public List<ActuationReport> catchUp(Instant now) {
        var reports = new ArrayList<ActuationReport>();
        carryOn(now, false, reports);
        return delivered(reports);
    }

    private List<ActuationReport> delivered(List<ActuationReport> reports) {
        inStep.ifPresent(driver -> reports.removeIf(report -> !driver.delivers(report)));
        reports.replaceAll(slots::placed);
        return reports;
    }

    /**
     * Reports on the tenant of each GPU, from which a scheduler can tell that it missed a report. Left out are GPUs
     * that change, GPUs that no driver has confirmed since a restart, and domains without a decision so far. Where the
     * driver does not choose units, tenants that have left their last one are reported with none.
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
                    .filter(entry -> entry.getKey()
                            .filter(tenant -> slots.isUncounted(tenant, unseen))
                            .isEmpty())
                    .map(entry ->
                            state.report(decision, Outcome.HOLDS, entry.getValue(), entry.getKey(), Timings.NONE, ""))
                    .sorted(Comparator.comparing(report -> report.gpus().get(0)))
                    .map(slots::placed)
                    .forEach(reports::add);
            slots.emptied(domain)
                    .forEach(tenant -> reports.add(
                            state.report(decision, Outcome.HOLDS, List.of(), Optional.of(tenant), Timings.NONE, "")));
        });
        return reports;
    }

    /**
     * Learns tenants from a stock that an earlier run reported, because the decisions that gave them their GPUs are not
     * known any more. GPUs that have a tenant are left out; an {@link InStepDriver} has only tenants of known
     * decisions.
     *
     * @param until end of the lease of a job's inference GPUs, unless a known renewal has a later one
     */
    public List<ActuationReport> recall(ActuationReport stock, Instant until) {
        var reports = new ArrayList<ActuationReport>();
        carryOn(stock.at(), false, reports);
        if (inStep.isEmpty()) {
            new StockRecall(state).take(stock, until);
        }
        return reports;
    }

    /** The orders since the last call; none for an {@link InStepDriver}, which has got them. */
    public List<Order> orders() {
        return state.orders().take();
    }

    /**
     * All orders that are in force, to be given to drivers again after a restart; none for an {@link InStepDriver},
     * which goes on where it was.
     *
     * @param isSeen whether the driver observes processes itself. If so, whatever it does not confirm in time is killed
     *     and reported as released. For a remote driver silence may mean an outage, so nothing is done
     */
    public List<Order> resume(Instant now, boolean isSeen) {
        state.orders().take();
        if (inStep.isPresent()) {
            return List.of();
        }
        PendingSteps steps = state.steps();
        steps.removeIf(step -> step.kind() == PendingStep.Kind.RETURN);
        Instant by = PendingStep.later(now, state.clock()).plus(WaitingTimes.RETURN);
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
            if (step.kills()) {
                standing.add(new Order.Force(step.decision(), step.tenant().orElseThrow(), step.gpus()));
            }
        }
        return standing;
    }

    /** Applies an event of a driver, and returns the reports that follow from it. */
    public List<ActuationReport> done(DriverEvent driverEvent, Instant now) {
        var reports = new ArrayList<ActuationReport>();
        carryOn(now, false, reports);
        take(driverEvent, new DriverFeedback(state, reports), reports);
        reports.replaceAll(slots::placed);
        return reports;
    }

    private void take(DriverEvent event, DriverFeedback feedback, List<ActuationReport> reports) {
        DriverEvent known = slots.known(event, reports);
        int before = reports.size();
        feedback.take(known);
        slots.place(reports, before, known);
    }

    private void carryOn(Instant now, boolean leasesToo, List<ActuationReport> reports) {
        Instant upTo = PendingStep.later(now, state.clock());
        var feedback = new DriverFeedback(state, reports);
        while (true) {
            if (inStep.isPresent()) {
                hand(inStep.get());
            }
            Optional<Instant> lease = state.nextLeaseEnd();
            if (lease.isPresent()
                    && (leasesToo ? lease.get().isAfter(upTo) : !lease.get().isBefore(upTo))) {
                lease = Optional.empty();
            }
            Instant until = lease.orElse(upTo);
            Optional<ExpectedEvent> event = nextEvent();
            boolean isEventDue = event.isPresent() && !event.get().at().isAfter(until);
            Optional<PendingStep> due = state.steps().first();
            if (due.isPresent() && due.get().due().isAfter(until)) {
                due = Optional.empty();
            }
            if (isEventDue && (due.isEmpty() || event.get().isBefore(due.get()))) {
                state.reach(event.get().at());
                take(inStep.orElseThrow().takeNext(), feedback, reports);
            } else if (due.isPresent()) {
                state.reach(due.get().due());
                state.steps().remove(due.get());
                feedback.overdue(due.get());
            } else if (lease.isPresent()) {
                state.reach(lease.get());
                new LeaseExpiry(state).end(lease.get());
            } else {
                state.reach(upTo);
                return;
            }
        }
    }

    private void hand(InStepDriver driver) {
        for (Order order : state.orders().take()) {
            driver.take(order, state.subject(order), state.clock());
        }
    }
}

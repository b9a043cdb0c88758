package io.lendstream.core.actuation;

import io.lendstream.core.decision.Adopted;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;

/** What an actuator knows and has to do. Decisions, driver events and time change it through the methods here. */
final class ActuationState {
    private final String actuator;
    private final Duration leaseNotice;
    private final ChangeDriver driver;

    private final UnitInventory inventory = new UnitInventory();
    private final DeclaredTenants tenants = new DeclaredTenants();
    /** The domain whose decisions a running job follows. */
    private final Map<Tenant, DomainId> homes = new HashMap<>();

    private final SortedMap<DomainId, DecisionId> latest = new TreeMap<>();
    private final Holdings holdings = new Holdings();
    private final PendingSteps steps = new PendingSteps();
    private final DriverOrders orders = new DriverOrders();
    private final VacatedUnits vacated = new VacatedUnits();

    private final EnumMap<Refusal, Long> refusals = new EnumMap<>(Refusal.class);
    private Instant clock = Instant.EPOCH;
    private boolean refusesLate;

    ActuationState(String actuator, Duration leaseNotice, ChangeDriver driver) {
        this.actuator = actuator;
        this.leaseNotice = leaseNotice;
        this.driver = driver;
    }

    /** Continues from saved state. */
    void restore(ActuationSnapshot saved) {
        clock = saved.clock();
        ActuationSnapshot current = driver.inStep().isPresent() ? PlannedSteps.awaited(saved) : saved;
        steps.restore(current.steps(), current.nextOrder());
        saved.latest().forEach(this::see);
        for (Holding holding : saved.holdings()) {
            holdings.put(holding);
            holding.loan()
                    .ifPresent(
                            loan -> homes.put(holding.tenant(), loan.granted().domain()));
        }
        if (driver.inStep().isPresent() || saved.expected().isEmpty()) {
            // A real driver gets no orders for simulated tenants.
            orders.restore(saved.places(), saved.cuts());
        }
        saved.places()
                .forEach(place -> homes.put(place.tenant(), place.decision().domain()));
        saved.refusals().forEach(count -> refusals.put(count.refusal(), count.times()));
        driver.inStep()
                .ifPresent(inStep -> inStep.restore(
                        holdings.all(), orders.places(), current.expected().orElse(List.of())));
    }

    ActuationSnapshot snapshot() {
        return new ActuationSnapshot(
                clock,
                steps.nextOrder(),
                List.copyOf(latest.values()),
                holdings.all(),
                steps.all(),
                orders.placesByDecision(),
                orders.cuts(),
                driver.inStep().map(InStepDriver::expected),
                refusals.entrySet().stream()
                        .map(count -> new ActuationSnapshot.Count(count.getKey(), count.getValue()))
                        .toList());
    }

    UnitInventory inventory() {
        return inventory;
    }

    PendingSteps steps() {
        return steps;
    }

    DriverOrders orders() {
        return orders;
    }

    ChangeDriver driver() {
        return driver;
    }

    Duration leaseNotice() {
        return leaseNotice;
    }

    /** The time up to which everything due is done. */
    Instant clock() {
        return clock;
    }

    /** Whether a decision past its deadline gives no GPU. */
    boolean refusesLate() {
        return refusesLate;
    }

    void refuseLate() {
        refusesLate = true;
    }

    /** Moves the clock forward, never back. */
    void reach(Instant at) {
        clock = PendingStep.later(clock, at);
    }

    /** The jobs and services that were declared. */
    DeclaredTenants tenants() {
        return tenants;
    }

    /** The known facts about the subject of an order. */
    OrderSubject subject(Order order) {
        return new SubjectFacts(this).of(order);
    }

    /** The domain of a job that has GPUs; that of the GPUs if a restart has lost which decision gave them. */
    Optional<DomainId> home(Tenant tenant) {
        SortedSet<GpuId> held = holdings.of(tenant);
        return held.isEmpty()
                ? Optional.empty()
                : Optional.ofNullable(homes.get(tenant))
                        .or(() -> held.stream()
                                .flatMap(gpu -> inventory.domainOf(gpu).stream())
                                .findFirst());
    }

    /**
     * The time at which a decision must be in force. A change is not in force before earlier changes of the same
     * tenant, and a job may have to restart.
     */
    Instant patience(Decision decision, Tenant tenant) {
        Duration restart = tenants.job(decision.id().domain(), tenant)
                .map(job -> job.traits().costs().first().multipliedBy(2))
                .orElse(Duration.ZERO);
        Duration patience = restart.compareTo(WaitingTimes.PATIENCE) > 0 ? restart : WaitingTimes.PATIENCE;
        Instant due = PendingStep.later(clock, decision.deadline()).plus(patience);
        return steps.awaited(tenant, step -> step.kind() == PendingStep.Kind.APPLY).stream()
                .map(PendingStep::due)
                .reduce(due, PendingStep::later);
    }

    /** A job without GPUs follows decisions of this domain from now on. */
    void settle(Tenant job, DomainId domain) {
        homes.put(job, domain);
    }

    /** The last decision of a domain that arrived. */
    Optional<DecisionId> latest(DomainId domain) {
        return Optional.ofNullable(latest.get(domain));
    }

    /** The last decision of each domain. */
    SortedMap<DomainId, DecisionId> latest() {
        return Collections.unmodifiableSortedMap(latest);
    }

    void see(DecisionId decision) {
        latest.put(decision.domain(), decision);
    }

    Map<Refusal, Long> refusals() {
        return new EnumMap<>(refusals);
    }

    void count(Refusal refusal) {
        refusals.merge(refusal, 1L, Long::sum);
    }

    List<Holding> holdings() {
        return holdings.all();
    }

    int held() {
        return holdings.size();
    }

    Optional<Holding> holding(GpuId gpu) {
        return holdings.of(gpu);
    }

    SortedSet<GpuId> held(Tenant tenant) {
        return holdings.of(tenant);
    }

    /** The GPUs that a tenant has and is not leaving. */
    SortedSet<GpuId> active(Tenant tenant) {
        return holdings.active(tenant);
    }

    /** What changes if a tenant keeps some GPUs, leaves its others, and gets new ones. */
    TenantChange change(Tenant tenant, List<GpuId> named, Collection<GpuId> kept, List<GpuId> gained) {
        return TenantChange.of(holdings, tenant, named, kept, gained);
    }

    boolean isBound(Tenant tenant, GpuId gpu) {
        return holdings.of(gpu)
                .filter(holding -> holding.tenant().equals(tenant))
                .filter(holding -> holding.phase() == Holding.Phase.BOUND)
                .isPresent();
    }

    /** When the next lease ends that is not being ended yet. */
    Optional<Instant> nextLeaseEnd() {
        return holdings.nextLeaseEnd();
    }

    List<Holding> loansEndingAt(Instant until) {
        return holdings.endingAt(until);
    }

    /** A tenant gets free GPUs, and is starting there. */
    void startBinding(Tenant tenant, Collection<GpuId> gpus) {
        gpus.forEach(gpu -> holdings.put(new Holding(gpu, tenant, Holding.Phase.BINDING, Optional.empty())));
    }

    /** The GPUs of replicas of several units start together. */
    void join(Collection<ReplicaUnits> replicas) {
        holdings.join(replicas);
    }

    /** A GPU is not on loan any more; what runs there stays. */
    void endLoan(Holding holding) {
        holdings.put(holding.withoutLoan());
    }

    /** What runs on GPUs is taken over. */
    void adopt(Collection<Adopted> found) {
        holdings.adopt(found);
    }

    /** What something else has started on GPUs. */
    List<Adopted> adopted(Collection<GpuId> gpus) {
        return holdings.adopted(gpus);
    }

    List<ReplicaUnits> replicas(Collection<GpuId> gpus) {
        return holdings.replicas(gpus);
    }

    /** A tenant is leaving GPUs. Steps that would have started it there are dropped. */
    void startReleasing(Tenant tenant, Collection<GpuId> gpus) {
        steps.withdraw(gpus, step -> step.binds() || step.returns(tenant) || step.applies(tenant));
        markReleasing(gpus);
    }

    /** The GPUs count as held until their tenant is gone, but not as active. */
    void markReleasing(Collection<GpuId> gpus) {
        moveTo(Holding.Phase.RELEASING, gpus);
    }

    void moveTo(Holding.Phase phase, Collection<GpuId> gpus) {
        gpus.forEach(gpu -> holdings.of(gpu).ifPresent(holding -> holdings.put(holding.in(phase))));
    }

    /** Two names of GPUs stand for each other from now on. */
    void exchange(GpuId one, GpuId other) {
        holdings.exchange(one, other);
    }

    /** These GPUs have no tenant any more. */
    void free(Collection<GpuId> gpus) {
        gpus.forEach(holdings::remove);
    }

    /** GPUs that a job has and is not leaving are on loan from now on. */
    void lend(Tenant job, Collection<GpuId> gpus, Holding.Loan loan) {
        for (GpuId gpu : gpus) {
            holdings.of(gpu)
                    .filter(holding -> holding.tenant().equals(job))
                    .filter(holding -> holding.phase() != Holding.Phase.RELEASING)
                    .ifPresent(holding -> holdings.put(holding.onLoan(loan)));
        }
    }

    /**
     * Extends the lease of a GPU; false if it is not on loan, or already on its way back. A lease never gets shorter.
     */
    boolean renewLoan(GpuId gpu, Instant until) {
        Optional<Holding> renewed = holdings.of(gpu)
                .filter(holding -> holding.phase() != Holding.Phase.RELEASING)
                .flatMap(holding -> holding.loan()
                        .map(old -> holding.onLoan(
                                new Holding.Loan(old.granted(), PendingStep.later(old.until(), until)))));
        renewed.ifPresent(holdings::put);
        return renewed.isPresent();
    }

    /** A job left units without being asked to. */
    void vacate(Tenant tenant, Collection<GpuId> units) {
        free(units);
        vacated.add(tenant, units);
    }

    VacatedUnits vacated() {
        return vacated;
    }

    /** A tenant must not be started on these units again, unless a new decision does so. */
    void displace(Tenant tenant, Collection<GpuId> units) {
        orders.takeOut(tenant, units);
        forgetIfGone(tenant);
    }

    /** A tenant that has nothing any more is nothing to keep, unless it is in host memory. */
    private void forgetIfGone(Tenant tenant) {
        if (holdings.of(tenant).isEmpty() && !orders.isPaused(tenant)) {
            orders.forget(tenant);
        }
    }

    /** Units are gone with all that ran on them. */
    void lose(Collection<GpuId> units) {
        steps.withdraw(units, step -> true);
        List<Tenant> tenants = units.stream()
                .flatMap(unit -> holdings.of(unit).stream())
                .map(Holding::tenant)
                .distinct()
                .toList();
        free(units);
        orders.lose(units);
        tenants.forEach(this::forgetIfGone);
        driver.inStep().ifPresent(inStep -> inStep.lose(units));
    }

    /** A step is done: changes what it was about, and reports it. */
    void complete(PendingStep step, List<ActuationReport> reports) {
        Outcome outcome = switch (step.kind()) {
            case RELEASE -> Outcome.RELEASED;
            case FORCE -> Outcome.FORCED;
            case BIND -> Outcome.BOUND;
            case FAIL, NOT_CUT -> Outcome.FAILED;
            case APPLY, RECUT -> Outcome.APPLIED;
            case GIVE_UP -> Outcome.TIMED_OUT;
            case RETURN -> throw new IllegalStateException(step + " is not reported to the scheduler");
        };
        switch (step.kind()) {
            case RELEASE, FORCE -> {
                free(step.gpus());
                steps.measure(step, clock);
            }
            case FAIL -> free(step.gpus());
            case BIND -> {
                moveTo(Holding.Phase.BOUND, step.gpus());
                steps.measure(step, clock);
            }
            case APPLY, GIVE_UP -> step.tenant().ifPresent(this::forgetIfGone);
            case RECUT, NOT_CUT, RETURN -> {}
        }
        if (step.kind() == PendingStep.Kind.FAIL) {
            step.tenant().ifPresent(tenant -> steps.withdraw(tenant, step.gpus(), other -> other.applies(tenant)));
        }
        reports.add(report(step.decision(), outcome, step.gpus(), step.tenant(), step.timings(), step.reason())
                .ofProgram(step.ofProgram()));
    }

    void refuse(
            Decision decision, Refusal refusal, Collection<GpuId> gpus, String reason, List<ActuationReport> reports) {
        count(refusal);
        reports.add(report(
                decision.id(), Outcome.REJECTED, gpus, decision.action().match(new TenantOf()), Timings.NONE, reason));
    }

    ActuationReport report(
            DecisionId decision,
            Outcome outcome,
            Collection<GpuId> gpus,
            Optional<Tenant> tenant,
            Timings timings,
            String reason) {
        return new ActuationReport(
                decision.domain(), decision, actuator, clock, outcome, GpuId.sorted(gpus), tenant, timings, reason);
    }
}

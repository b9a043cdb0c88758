package io.lendstream.core.actuation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** What an actuator knows, and has under way: what decisions and deeds change alike. */
final class ActuationState {
    final String actuator;
    final Duration leaseNotice;
    final DelayModel delays;

    final Map<GpuId, Pool> pools = new HashMap<>();
    final Map<InDomain<NodeId>, List<GpuId>> gpusByNode = new HashMap<>();
    /** Of which domain a GPU is: the first that declared it keeps it until its node is forgotten. */
    final Map<GpuId, DomainId> domains = new HashMap<>();

    final Map<GpuId, Gpu> cuttable = new HashMap<>();
    final Map<InDomain<JobId>, TrainingJob> jobs = new HashMap<>();
    final Map<InDomain<ServiceId>, InferenceService> services = new HashMap<>();
    /** Whose decisions running jobs follow. */
    final Map<Tenant, DomainId> homes = new HashMap<>();

    final Map<DomainId, DecisionId> latest = new TreeMap<>();
    final Holdings holdings = new Holdings();
    final TreeSet<PendingStep> steps = new TreeSet<>();
    final Map<Tenant, Order.Place> places = new HashMap<>();
    final Map<GpuId, Order.Cut> cuts = new TreeMap<>();
    /**
     * Units that jobs left by themselves, until a decision shows that its scheduler has heard of it. One that was made before may
     * still count on them, and must not bring the job back to what its scheduler is about to take for free.
     */
    final Map<GpuId, Tenant> deserted = new TreeMap<>();

    final List<Order> orders = new ArrayList<>();
    final EnumMap<Refusal, Long> refusals = new EnumMap<>(Refusal.class);
    Instant clock = Instant.EPOCH;
    long nextOrder;

    /** Something by its name in a domain: other domains may use the same name. */
    record InDomain<I>(DomainId domain, I id) {}

    ActuationState(String actuator, Duration leaseNotice, DelayModel delays) {
        this.actuator = actuator;
        this.leaseNotice = leaseNotice;
        this.delays = delays;
    }

    void order(Order.Place place) {
        orders.removeIf(older ->
                older instanceof Order.Place earlier && earlier.tenant().equals(place.tenant()));
        places.put(place.tenant(), place);
        orders.add(place);
    }

    /** A tenant is not to be started there again, unless it is decided anew. */
    void displace(Tenant tenant, Collection<GpuId> units) {
        Optional.ofNullable(places.get(tenant))
                .filter(place -> place.units().stream().anyMatch(units::contains))
                .ifPresent(place -> order(place.without(units)));
        if (holdings.of(tenant).isEmpty()) {
            places.remove(tenant);
        }
    }

    List<PendingStep> driven(Tenant tenant, java.util.function.Predicate<PendingStep> which) {
        return steps.stream()
                .filter(step -> step.driven()
                        && which.test(step)
                        && step.tenant().filter(tenant::equals).isPresent())
                .toList();
    }

    void complete(PendingStep step, List<ActuationReport> reports) {
        Outcome outcome = switch (step.kind()) {
            case RELEASE -> Outcome.RELEASED;
            case FORCE -> Outcome.FORCED;
            case BIND -> Outcome.BOUND;
            case FAIL, NOT_CUT -> Outcome.FAILED;
            case APPLY, RECUT -> Outcome.APPLIED;
            case GIVE_UP -> Outcome.TIMED_OUT;
            case RETURN -> throw new IllegalStateException(step + " is nobody's business but the actuator's");
        };
        switch (step.kind()) {
            case RELEASE, FORCE, FAIL -> step.gpus().forEach(holdings::remove);
            case BIND ->
                step.gpus()
                        .forEach(gpu ->
                                holdings.of(gpu).ifPresent(holding -> holdings.put(holding.in(Holding.Phase.BOUND))));
            case APPLY, RECUT, NOT_CUT, GIVE_UP, RETURN -> {}
        }
        if (step.kind() == PendingStep.Kind.FAIL) {
            withdraw(step.gpus(), other -> other.kind() == PendingStep.Kind.APPLY);
        }
        if (step.reported()) {
            reports.add(new ActuationReport(
                    step.decision().domain(),
                    step.decision(),
                    actuator,
                    clock,
                    outcome,
                    step.gpus(),
                    step.tenant(),
                    step.timings(),
                    step.reason()));
        }
    }

    void refuse(
            Decision decision, Refusal refusal, Collection<GpuId> gpus, String reason, List<ActuationReport> reports) {
        refusals.merge(refusal, 1L, Long::sum);
        reports.add(report(decision, Outcome.REJECTED, gpus, tenantOf(decision.action()), Timings.NONE, reason));
    }

    ActuationReport report(
            Decision decision,
            Outcome outcome,
            Collection<GpuId> gpus,
            Optional<Tenant> tenant,
            Timings timings,
            String reason) {
        return new ActuationReport(
                decision.id().domain(),
                decision.id(),
                actuator,
                clock,
                outcome,
                gpus.stream().sorted().toList(),
                tenant,
                timings,
                reason);
    }

    /** Makes a tenant leave GPUs by {@code by}; returns when it will have left them all. */
    Instant leave(
            DecisionId decision,
            Tenant tenant,
            Collection<GpuId> gpus,
            ChangeTiming changeTiming,
            Instant by,
            String reason) {
        if (gpus.isEmpty()) {
            return clock;
        }
        withdraw(gpus, step -> step.binds() || step.returns(tenant) || step.kind() == PendingStep.Kind.APPLY);
        for (GpuId gpu : gpus) {
            holdings.of(gpu).ifPresent(holding -> holdings.put(holding.in(Holding.Phase.RELEASING)));
        }
        Instant deadline = laterOf(clock, by);
        if (changeTiming.isDriven()) {
            await(deadline, PendingStep.Kind.RELEASE, decision, tenant, gpus, reason);
            return deadline;
        }
        Instant left = clock.plus(changeTiming.release());
        boolean forced = changeTiming.trouble() == ChangeTiming.FailureMode.STUCK_RELEASE || left.isAfter(deadline);
        Instant due = forced ? deadline : left;
        plan(
                due,
                forced ? PendingStep.Kind.FORCE : PendingStep.Kind.RELEASE,
                decision,
                Optional.of(tenant),
                gpus,
                timings(Duration.between(clock, due), Optional.empty(), Optional.empty()),
                changeTiming.trouble() != ChangeTiming.FailureMode.UNREPORTED,
                forced ? join(reason, "still there at the deadline") : reason);
        return due;
    }

    /**
     * A release that is under way already, or the kill of what did not come up, is owed under a newer decision from now on, and by its
     * deadline.
     */
    void expedite(Decision decision, Collection<GpuId> gpus, Instant by) {
        for (PendingStep step : List.copyOf(steps)) {
            List<GpuId> moved = step.gpus().stream().filter(gpus::contains).toList();
            boolean isKill = step.driven() && step.kills();
            if (!(step.frees() || isKill) || moved.isEmpty()) {
                continue;
            }
            withdraw(moved, step::equals);
            Instant deadline = laterOf(clock, by);
            if (step.driven()) {
                Instant due = step.due().isAfter(deadline) ? deadline : step.due();
                String reason = join(step.reason(), "first asked for by " + step.decision());
                // Both parts may be due at the same time: a step of its own needs an order of its own.
                steps.add(step.of(moved).owedBy(decision.id(), due, nextOrder++, reason));
                continue;
            }
            boolean cut = step.due().isAfter(deadline);
            plan(
                    cut ? deadline : step.due(),
                    cut ? PendingStep.Kind.FORCE : step.kind(),
                    decision.id(),
                    step.tenant(),
                    moved,
                    step.timings(),
                    step.reported(),
                    join(step.reason(), "first asked for by " + step.decision()));
        }
    }

    void plan(
            Instant due,
            PendingStep.Kind kind,
            DecisionId decision,
            Optional<Tenant> tenant,
            Collection<GpuId> gpus,
            Timings timings,
            boolean reported,
            String reason) {
        steps.add(new PendingStep(
                due, clock, nextOrder++, kind, decision, tenant, List.copyOf(gpus), timings, reported, false, reason));
    }

    /** What a driver is to do, at the latest by then. */
    void await(
            Instant due,
            PendingStep.Kind kind,
            DecisionId decision,
            Tenant tenant,
            Collection<GpuId> gpus,
            String reason) {
        steps.add(new PendingStep(
                due,
                clock,
                nextOrder++,
                kind,
                decision,
                Optional.of(tenant),
                List.copyOf(gpus),
                Timings.NONE,
                true,
                true,
                reason));
    }

    /** Takes GPUs out of steps to come; a step without any is dropped, save that what is applied is still said. */
    void withdraw(Collection<GpuId> gpus, java.util.function.Predicate<PendingStep> which) {
        var gone = Set.copyOf(gpus);
        for (PendingStep step : List.copyOf(steps)) {
            if (!which.test(step) || step.gpus().stream().noneMatch(gone::contains)) {
                continue;
            }
            List<GpuId> rest =
                    step.gpus().stream().filter(gpu -> !gone.contains(gpu)).toList();
            steps.remove(step);
            if (step.kind() == PendingStep.Kind.APPLY) {
                steps.add(step.of(rest)
                        .because(join(
                                step.reason(),
                                "without "
                                        + names(step.gpus().stream()
                                                .filter(gone::contains)
                                                .toList()))));
            } else if (!rest.isEmpty()) {
                steps.add(step.of(rest));
            }
        }
    }

    SortedSet<GpuId> active(Tenant tenant) {
        var active = new TreeSet<GpuId>();
        for (GpuId gpu : holdings.of(tenant)) {
            if (phaseOf(gpu) != Holding.Phase.RELEASING) {
                active.add(gpu);
            }
        }
        return active;
    }

    Holding.Phase phaseOf(GpuId gpu) {
        return holdings.of(gpu).map(Holding::phase).orElseThrow();
    }

    Optional<TrainingJob> jobOf(DomainId domain, Tenant tenant) {
        return tenant instanceof Tenant.Job job
                ? Optional.ofNullable(jobs.get(new InDomain<>(domain, job.job())))
                : Optional.empty();
    }

    Optional<InferenceService> serviceOf(DomainId domain, Tenant tenant) {
        return tenant instanceof Tenant.Service service
                ? Optional.ofNullable(services.get(new InDomain<>(domain, service.service())))
                : Optional.empty();
    }

    /** Whether a GPU is known as one of another domain. */
    boolean isElsewhere(DomainId domain, GpuId gpu) {
        return Optional.ofNullable(domains.get(gpu))
                .filter(other -> !other.equals(domain))
                .isPresent();
    }

    /** The domain of a job that has GPUs; that of the GPUs if a restart has lost which decision gave them. */
    Optional<DomainId> home(Tenant tenant) {
        SortedSet<GpuId> held = holdings.of(tenant);
        return held.isEmpty()
                ? Optional.empty()
                : Optional.ofNullable(homes.get(tenant))
                        .or(() -> held.stream()
                                .filter(domains::containsKey)
                                .map(domains::get)
                                .findFirst());
    }

    static Optional<Tenant> tenantOf(Action action) {
        if (action instanceof Action.Lend lend) {
            return Optional.of(new Tenant.Job(lend.job()));
        }
        if (action instanceof Action.Reclaim reclaim) {
            return Optional.of(new Tenant.Job(reclaim.job()));
        }
        if (action instanceof Action.Resize resize) {
            return Optional.of(new Tenant.Job(resize.job()));
        }
        if (action instanceof Action.Serve serve) {
            return Optional.of(new Tenant.Service(serve.service()));
        }
        if (action instanceof Action.Idle idle) {
            return Optional.of(new Tenant.Service(idle.service()));
        }
        if (action instanceof Action.Batching batching) {
            return Optional.of(new Tenant.Service(batching.service()));
        }
        return Optional.empty();
    }

    static Timings timings(Duration release, Optional<Duration> bind, Optional<Duration> ready) {
        return new Timings(Optional.empty(), Optional.of(release), bind, ready);
    }

    static String join(String reason, String more) {
        return reason.isEmpty() || more.isEmpty() ? reason + more : reason + "; " + more;
    }

    static String names(Collection<GpuId> gpus) {
        return String.join(", ", gpus.stream().map(GpuId::value).toList());
    }

    static Instant laterOf(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }
}

package io.lendstream.core.actuation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** Takes up one decision that was let in. */
final class DecisionHandler implements Action.Cases<DecisionHandler> {
    /** For services, which have no allocation to speak of. */
    private static final Allocation NO_JOB = Allocation.suspended(Mechanism.UNKNOWN);

    private final ActuationState work;
    private final Decision decision;
    private final List<ActuationReport> reports;

    DecisionHandler(ActuationState work, Decision decision, List<ActuationReport> reports) {
        this.work = work;
        this.decision = decision;
        this.reports = reports;
    }

    @Override
    public DecisionHandler lend(Action.Lend lend) {
        if (!lend.until().isAfter(work.clock)) {
            return refused(
                    Refusal.LEASE_OVER,
                    lend.gpus(),
                    "the lease until %s is over at %s".formatted(lend.until(), work.clock));
        }
        return change(lend.job(), lend.gpus(), lend.allocation(), decision.deadline(), true, Optional.of(lend.until()));
    }

    @Override
    public DecisionHandler reclaim(Action.Reclaim reclaim) {
        return change(reclaim.job(), reclaim.gpus(), reclaim.allocation(), reclaim.by(), true, Optional.empty());
    }

    @Override
    public DecisionHandler resize(Action.Resize resize) {
        return change(resize.job(), resize.gpus(), resize.allocation(), decision.deadline(), false, Optional.empty());
    }

    @Override
    public DecisionHandler serve(Action.Serve serve) {
        var service = new Tenant.Service(serve.service());
        if (serve.warm()) {
            for (GpuId gpu : serve.gpus()) {
                boolean warm = work.holdings
                        .of(gpu)
                        .filter(holding -> holding.tenant().equals(service))
                        .filter(holding -> holding.phase() == Holding.Phase.BOUND)
                        .isPresent();
                if (!warm) {
                    return refused(
                            Refusal.GPU_NOT_HELD,
                            serve.gpus(),
                            "%s has no warm replica of %s: %s".formatted(gpu, service, state(gpu)));
                }
            }
            return carryOut(service, List.of(), work.active(service), List.of(), decision.deadline(), NO_JOB, "");
        }
        for (GpuId gpu : serve.gpus()) {
            Optional<Refusal> taken = whyNotFree(gpu);
            if (taken.isPresent()) {
                return refused(taken.get(), serve.gpus(), "%s cannot be bound: %s".formatted(gpu, state(gpu)));
            }
        }
        return carryOut(service, List.of(), work.active(service), serve.gpus(), decision.deadline(), NO_JOB, "");
    }

    @Override
    public DecisionHandler idle(Action.Idle idle) {
        var service = new Tenant.Service(idle.service());
        SortedSet<GpuId> kept = work.active(service);
        kept.removeAll(Set.copyOf(idle.gpus()));
        return carryOut(service, idle.gpus(), kept, List.of(), idle.by(), NO_JOB, "");
    }

    @Override
    public DecisionHandler batching(Action.Batching batching) {
        ChangeTiming changeTiming = work.delays.batching();
        if (changeTiming.equals(ChangeTiming.NONE)) {
            return refused(Refusal.UNSUPPORTED, batching.gpus(), "no driver here changes how services batch");
        }
        if (!changeTiming.isDriven()) {
            return inForce(batching.gpus());
        }
        Tenant service = new Tenant.Service(batching.service());
        reports.add(work.report(decision, Outcome.ACCEPTED, batching.gpus(), Optional.of(service), Timings.NONE, ""));
        work.await(
                decision.deadline().plus(Actuation.PATIENCE),
                PendingStep.Kind.APPLY,
                decision.id(),
                service,
                List.of(),
                "");
        work.orders.add(new Order.Batch(decision.id(), batching));
        return this;
    }

    @Override
    public DecisionHandler repartition(Action.Repartition repartition) {
        boolean isPossible = repartition.gpus().stream().allMatch(gpu -> mayBeCut(gpu, repartition.profiles()));
        if (!isPossible) {
            return refused(
                    Refusal.UNSUPPORTED,
                    repartition.gpus(),
                    "a GPU whose MIG mode may not be switched here enters or leaves it by its node's own tools only");
        }
        for (GpuId gpu : repartition.gpus()) {
            for (GpuId unit : going(gpu, repartition.profiles())) {
                Optional<Refusal> taken = whyNotFree(unit);
                if (taken.isPresent()) {
                    return refused(
                            taken.get(), repartition.gpus(), "%s is in the way: %s".formatted(unit, state(unit)));
                }
            }
        }
        if (work.delays.recut(0, 0, false).equals(ChangeTiming.NONE)) {
            return refused(Refusal.UNSUPPORTED, repartition.gpus(), "no driver here cuts GPUs");
        }
        reports.add(work.report(decision, Outcome.ACCEPTED, repartition.gpus(), Optional.empty(), Timings.NONE, ""));
        repartition.gpus().forEach(gpu -> recut(gpu, repartition.profiles()));
        return this;
    }

    /** Whether its MIG mode is the one that a cut needs, or may be switched. */
    private boolean mayBeCut(GpuId id, List<String> profiles) {
        return Optional.ofNullable(work.cuttable.get(id))
                .filter(gpu -> gpu.migSwitchable() || gpu.migEnabled() == !profiles.isEmpty())
                .isPresent();
    }

    /** The GPU and its instances that a cut does not leave as they are. */
    private List<GpuId> going(GpuId gpu, List<String> profiles) {
        var going = new ArrayList<GpuId>(List.of(gpu));
        instances(gpu).stream()
                .filter(instance -> !profiles.contains(place(instance)))
                .forEach(instance -> going.add(instance.gpuId()));
        return going;
    }

    private List<GpuInstance> instances(GpuId gpu) {
        return Optional.ofNullable(work.cuttable.get(gpu)).map(Gpu::instances).orElse(List.of());
    }

    private String place(GpuInstance instance) {
        return instance.profile() + "@" + instance.start();
    }

    private void recut(GpuId gpu, List<String> profiles) {
        List<GpuId> going = going(gpu, profiles);
        int gone = going.size() - 1;
        int kept = instances(gpu).size() - gone;
        boolean switches = Optional.ofNullable(work.cuttable.get(gpu))
                .filter(known -> known.migEnabled() == profiles.isEmpty())
                .isPresent();
        ChangeTiming changeTiming = work.delays.recut(gone, profiles.size() - kept, switches);
        if (changeTiming.isDriven()) {
            work.steps.add(new PendingStep(
                    ActuationState.laterOf(work.clock, decision.deadline()),
                    work.clock,
                    work.nextOrder++,
                    PendingStep.Kind.RECUT,
                    decision.id(),
                    Optional.empty(),
                    going,
                    Timings.NONE,
                    true,
                    true,
                    ""));
            Order.Cut cut = new Order.Cut(decision.id(), gpu, profiles);
            work.cuts.put(gpu, cut);
            work.orders.add(cut);
            return;
        }
        Duration takes = changeTiming.ready();
        work.plan(
                work.clock.plus(takes),
                PendingStep.Kind.RECUT,
                decision.id(),
                Optional.empty(),
                going,
                ActuationState.timings(Duration.ZERO, Optional.empty(), Optional.of(takes)),
                true,
                "");
    }

    @Override
    public DecisionHandler renew(Action.Renew renew) {
        var renewed = new ArrayList<GpuId>();
        var ended = new ArrayList<GpuId>();
        for (GpuId gpu : renew.gpus()) {
            Optional<Holding> loan = work.holdings
                    .of(gpu)
                    .filter(holding -> holding.phase() != Holding.Phase.RELEASING)
                    .filter(holding -> holding.loan().isPresent());
            loan.ifPresent(holding -> holding.loan()
                    .ifPresent(old -> work.holdings.put(holding.onLoan(
                            new Holding.Loan(old.granted(), ActuationState.laterOf(old.until(), renew.until()))))));
            (loan.isPresent() ? renewed : ended).add(gpu);
        }
        if (!renewed.isEmpty()) {
            inForce(renewed);
        }
        if (!ended.isEmpty()) {
            refused(Refusal.NOT_ON_LOAN, ended, "no loan to renew: " + state(ended.get(0)));
        }
        return this;
    }

    @Override
    public DecisionHandler hold(Action.Hold hold) {
        return this;
    }

    private DecisionHandler inForce(List<GpuId> gpus) {
        Optional<Tenant> tenant = ActuationState.tenantOf(decision.action());
        reports.add(work.report(decision, Outcome.ACCEPTED, gpus, tenant, Timings.NONE, ""));
        reports.add(work.report(decision, Outcome.APPLIED, gpus, tenant, Timings.NONE, ""));
        return this;
    }

    private DecisionHandler refused(Refusal refusal, Collection<GpuId> gpus, String reason) {
        work.refuse(decision, refusal, gpus, reason, reports);
        return this;
    }

    /**
     * @param fillsUp whether training GPUs that the allocation names, but the decision does not, are bound as well, unless the job
     *     left them by itself
     * @param lease end of the lease of the GPUs named, where they are lent
     */
    private DecisionHandler change(
            JobId id, List<GpuId> named, Allocation allocation, Instant by, boolean fillsUp, Optional<Instant> lease) {
        var job = new Tenant.Job(id);
        Set<GpuId> all = Set.copyOf(allocation.gpus());
        work.deserted
                .entrySet()
                .removeIf(unit ->
                        unit.getValue().equals(job) && (!all.contains(unit.getKey()) || named.contains(unit.getKey())));
        SortedSet<GpuId> active = work.active(job);
        var gained = new ArrayList<GpuId>();
        var lost = new ArrayList<GpuId>();
        for (GpuId gpu : allocation.gpus()) {
            if (active.contains(gpu)) {
                continue;
            }
            boolean training = work.pools.get(gpu) == Pool.TRAINING;
            Optional<Refusal> taken = whyNotFree(gpu);
            if (!named.contains(gpu)) {
                boolean deserted = job.equals(work.deserted.get(gpu));
                (fillsUp && training && taken.isEmpty() && !deserted ? gained : lost).add(gpu);
                continue;
            }
            if (taken.isPresent()) {
                return refused(taken.get(), named, "%s cannot be bound: %s".formatted(gpu, state(gpu)));
            }
            if (lease.isEmpty() && !training) {
                return refused(
                        Refusal.NOT_ON_LOAN,
                        named,
                        "%s is an inference GPU: a job gets it only on loan".formatted(gpu));
            }
            gained.add(gpu);
        }
        var kept = new TreeSet<>(active);
        kept.retainAll(all);
        if (!lost.isEmpty()) {
            work.refusals.merge(Refusal.NOT_ON_LOAN, 1L, Long::sum);
        }
        carryOut(
                job,
                named,
                kept,
                gained,
                by,
                allocation,
                lost.isEmpty()
                        ? ""
                        : "goes on without %s: %s".formatted(ActuationState.names(lost), state(lost.get(0))));
        lease.ifPresent(until -> {
            for (GpuId gpu : named) {
                work.holdings
                        .of(gpu)
                        .filter(holding -> holding.tenant().equals(job))
                        .filter(holding -> holding.phase() != Holding.Phase.RELEASING)
                        .ifPresent(
                                holding -> work.holdings.put(holding.onLoan(new Holding.Loan(decision.id(), until))));
            }
        });
        return this;
    }

    /**
     * Makes a tenant leave what it has and is not to keep, and come to what it gains.
     *
     * @param named the GPUs whose release is asked for by name
     */
    private DecisionHandler carryOut(
            Tenant tenant,
            List<GpuId> named,
            SortedSet<GpuId> kept,
            List<GpuId> gained,
            Instant by,
            Allocation allocation,
            String remark) {
        gained.forEach(work.deserted::remove);
        SortedSet<GpuId> active = work.active(tenant);
        var leaving = new TreeSet<>(active);
        leaving.removeAll(kept);
        var underWay = new ArrayList<GpuId>();
        var nobodys = new ArrayList<GpuId>();
        var foreign = new ArrayList<GpuId>();
        for (GpuId gpu : named) {
            if (kept.contains(gpu) || leaving.contains(gpu) || gained.contains(gpu)) {
                continue;
            }
            Optional<Holding> holding = work.holdings.of(gpu);
            if (holding.isEmpty()) {
                nobodys.add(gpu);
            } else if (holding.get().tenant().equals(tenant)) {
                underWay.add(gpu);
            } else {
                foreign.add(gpu);
            }
        }
        var changing = new TreeSet<>(leaving);
        changing.addAll(gained);
        changing.addAll(underWay);
        changing.addAll(nobodys);
        if (changing.isEmpty() && !foreign.isEmpty()) {
            return refused(
                    Refusal.GPU_NOT_HELD,
                    foreign,
                    "%s is not %s's: %s".formatted(foreign.get(0), tenant, state(foreign.get(0))));
        }
        boolean isJob = tenant instanceof Tenant.Job;
        List<PendingStep> open = isJob ? pending(tenant, PendingStep.Kind.APPLY) : List.of();
        Duration remaining = open.stream()
                .map(step -> Duration.between(work.clock, step.due()))
                .max(Duration::compareTo)
                .orElse(Duration.ZERO);
        ChangeTiming changeTiming = work.delays.changeTiming(new TenantChange(
                decision.id(),
                tenant,
                List.copyOf(leaving),
                gained,
                active.size(),
                kept.size() + gained.size(),
                allocation.mechanism(),
                allocation.localBatch(),
                remaining,
                work.jobOf(decision.id().domain(), tenant),
                work.serviceOf(decision.id().domain(), tenant)));
        if (changeTiming.trouble() == ChangeTiming.FailureMode.NO_DRIVER) {
            return refused(Refusal.UNSUPPORTED, named, "no driver here runs " + tenant);
        }
        boolean warm = decision.action() instanceof Action.Serve serve && serve.warm();
        Collection<GpuId> about = warm ? decision.action().gpus() : changing;
        reports.add(work.report(decision, Outcome.ACCEPTED, about, Optional.of(tenant), Timings.NONE, remark));
        if (!foreign.isEmpty()) {
            refused(
                    Refusal.GPU_NOT_HELD,
                    foreign,
                    "%s is not %s's: %s".formatted(foreign.get(0), tenant, state(foreign.get(0))));
        }
        if (!nobodys.isEmpty()) {
            reports.add(work.report(
                    decision,
                    Outcome.RELEASED,
                    nobodys,
                    Optional.of(tenant),
                    ActuationState.timings(Duration.ZERO, Optional.empty(), Optional.empty()),
                    "nothing ran there any more"));
        }
        work.expedite(decision, underWay, by);

        if (changeTiming.isDriven()) {
            return driven(tenant, leaving, gained, isJob ? Optional.of(allocation) : Optional.empty(), by, remark);
        }
        boolean reported = changeTiming.trouble() != ChangeTiming.FailureMode.UNREPORTED;

        Instant left = work.leave(decision.id(), tenant, leaving, changeTiming, by, "");
        Instant last = left;
        boolean fails = !gained.isEmpty() && changeTiming.trouble() == ChangeTiming.FailureMode.BIND_FAILS;
        if (!gained.isEmpty()) {
            for (GpuId gpu : gained) {
                work.holdings.put(new Holding(gpu, tenant, Holding.Phase.BINDING, Optional.empty()));
            }
            Instant bound = left.plus(changeTiming.bind());
            last = ActuationState.laterOf(last, bound);
            work.plan(
                    bound,
                    fails ? PendingStep.Kind.FAIL : PendingStep.Kind.BIND,
                    decision.id(),
                    Optional.of(tenant),
                    gained,
                    ActuationState.timings(
                            Duration.between(work.clock, left), Optional.of(changeTiming.bind()), Optional.empty()),
                    reported,
                    fails ? "did not come up" : "");
        }
        if (isJob) {
            for (PendingStep bind : pending(tenant, PendingStep.Kind.BIND)) {
                last = ActuationState.laterOf(last, bind.due());
            }
        }
        Instant applied = ActuationState.laterOf(last, work.clock.plus(changeTiming.ready()));
        for (PendingStep older : open) {
            work.steps.remove(older);
            work.plan(
                    fails ? last : applied,
                    PendingStep.Kind.APPLY,
                    older.decision(),
                    Optional.of(tenant),
                    List.of(),
                    older.timings(),
                    older.reported(),
                    "superseded by " + decision.id());
        }
        if (!fails) {
            var after = new TreeSet<>(kept);
            after.addAll(gained);
            work.plan(
                    applied,
                    PendingStep.Kind.APPLY,
                    decision.id(),
                    Optional.of(tenant),
                    isJob ? after : about,
                    ActuationState.timings(
                            Duration.between(work.clock, left),
                            Optional.of(Duration.between(left, last)),
                            Optional.of(Duration.between(last, applied))),
                    reported,
                    remark);
        }
        return this;
    }

    /** Orders from a driver what has been taken up. */
    private DecisionHandler driven(
            Tenant tenant,
            SortedSet<GpuId> leaving,
            List<GpuId> gained,
            Optional<Allocation> allocation,
            Instant by,
            String remark) {
        work.leave(decision.id(), tenant, leaving, ChangeTiming.DRIVEN, by, "");
        for (GpuId gpu : gained) {
            work.holdings.put(new Holding(gpu, tenant, Holding.Phase.BINDING, Optional.empty()));
        }
        Instant deadline = ActuationState.laterOf(work.clock, decision.deadline());
        if (!gained.isEmpty()) {
            work.await(deadline, PendingStep.Kind.BIND, decision.id(), tenant, gained, "");
        }
        SortedSet<GpuId> after = work.active(tenant);
        work.await(deadline.plus(Actuation.PATIENCE), PendingStep.Kind.APPLY, decision.id(), tenant, after, remark);
        var out = new TreeSet<>(work.holdings.of(tenant));
        out.removeAll(after);
        work.order(new Order.Place(decision.id(), tenant, List.copyOf(after), List.copyOf(out), allocation, by));
        return this;
    }

    private Optional<Refusal> whyNotFree(GpuId gpu) {
        if (!work.pools.containsKey(gpu)) {
            return Optional.of(Refusal.GPU_UNKNOWN);
        }
        if (work.isElsewhere(decision.id().domain(), gpu)) {
            return Optional.of(Refusal.OTHER_DOMAIN);
        }
        return work.holdings.of(gpu).isPresent() || isRecut(gpu) ? Optional.of(Refusal.GPU_HELD) : Optional.empty();
    }

    private boolean isRecut(GpuId gpu) {
        return work.steps.stream()
                .anyMatch(step ->
                        step.kind() == PendingStep.Kind.RECUT && step.gpus().contains(gpu));
    }

    private String state(GpuId gpu) {
        return work.holdings
                .of(gpu)
                .map(holding -> switch (holding.phase()) {
                    case BINDING -> "it is being bound to " + holding.tenant();
                    case BOUND -> holding.tenant() + " has it, and its release has not been asked for";
                    case RELEASING -> holding.tenant() + " is still leaving it";
                })
                .orElseGet(() -> isRecut(gpu)
                        ? "it is being cut"
                        : work.pools.containsKey(gpu) ? "nobody has it" : "no node that is known has it");
    }

    private List<PendingStep> pending(Tenant tenant, PendingStep.Kind kind) {
        return work.steps.stream()
                .filter(step -> step.kind() == kind
                        && step.tenant().filter(tenant::equals).isPresent())
                .toList();
    }
}

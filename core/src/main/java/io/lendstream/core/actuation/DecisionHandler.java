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

    private final ActuationState state;
    private final Decision decision;
    private final List<ActuationReport> reports;

    DecisionHandler(ActuationState state, Decision decision, List<ActuationReport> reports) {
        this.state = state;
        this.decision = decision;
        this.reports = reports;
    }

    @Override
    public DecisionHandler lend(Action.Lend lend) {
        if (!lend.until().isAfter(state.clock())) {
            return refused(
                    Refusal.LEASE_OVER,
                    lend.gpus(),
                    "the lease until %s is over at %s".formatted(lend.until(), state.clock()));
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
                if (!state.isBound(service, gpu)) {
                    return refused(
                            Refusal.GPU_NOT_HELD,
                            serve.gpus(),
                            "%s has no warm replica of %s: %s".formatted(gpu, service, stateOf(gpu)));
                }
            }
            return carryOut(service, List.of(), state.active(service), List.of(), decision.deadline(), NO_JOB, "");
        }
        for (GpuId gpu : serve.gpus()) {
            Optional<Refusal> taken = whyNotFree(gpu);
            if (taken.isPresent()) {
                return refused(taken.get(), serve.gpus(), "%s cannot be bound: %s".formatted(gpu, stateOf(gpu)));
            }
        }
        return carryOut(service, List.of(), state.active(service), serve.gpus(), decision.deadline(), NO_JOB, "");
    }

    @Override
    public DecisionHandler idle(Action.Idle idle) {
        var service = new Tenant.Service(idle.service());
        SortedSet<GpuId> kept = state.active(service);
        kept.removeAll(Set.copyOf(idle.gpus()));
        return carryOut(service, idle.gpus(), kept, List.of(), idle.by(), NO_JOB, "");
    }

    @Override
    public DecisionHandler batching(Action.Batching batching) {
        ChangeTiming changeTiming = state.delays().batching();
        if (changeTiming.equals(ChangeTiming.NONE)) {
            return refused(Refusal.UNSUPPORTED, batching.gpus(), "no driver here changes how services batch");
        }
        if (!changeTiming.isDriven()) {
            return inForce(batching.gpus());
        }
        Tenant service = new Tenant.Service(batching.service());
        reports.add(
                state.report(decision.id(), Outcome.ACCEPTED, batching.gpus(), Optional.of(service), Timings.NONE, ""));
        state.steps()
                .await(
                        state.clock(),
                        decision.deadline().plus(Actuation.PATIENCE),
                        PendingStep.Kind.APPLY,
                        PendingSteps.Subject.of(decision.id(), service, List.of()),
                        "");
        state.orders().add(new Order.Batch(decision.id(), batching));
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
                            taken.get(), repartition.gpus(), "%s is in the way: %s".formatted(unit, stateOf(unit)));
                }
            }
        }
        if (state.delays().recut(0, 0, false).equals(ChangeTiming.NONE)) {
            return refused(Refusal.UNSUPPORTED, repartition.gpus(), "no driver here cuts GPUs");
        }
        reports.add(
                state.report(decision.id(), Outcome.ACCEPTED, repartition.gpus(), Optional.empty(), Timings.NONE, ""));
        repartition.gpus().forEach(gpu -> recut(gpu, repartition.profiles()));
        return this;
    }

    /** Whether its MIG mode is the one that a cut needs, or may be switched. */
    private boolean mayBeCut(GpuId id, List<String> profiles) {
        return state.inventory()
                .cuttable(id)
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
        return state.inventory().cuttable(gpu).map(Gpu::instances).orElse(List.of());
    }

    private String place(GpuInstance instance) {
        return instance.profile() + "@" + instance.start();
    }

    private void recut(GpuId gpu, List<String> profiles) {
        List<GpuId> going = going(gpu, profiles);
        int gone = going.size() - 1;
        int kept = instances(gpu).size() - gone;
        boolean switches = state.inventory()
                .cuttable(gpu)
                .filter(known -> known.migEnabled() == profiles.isEmpty())
                .isPresent();
        ChangeTiming changeTiming = state.delays().recut(gone, profiles.size() - kept, switches);
        PendingSteps.Subject subject = new PendingSteps.Subject(decision.id(), Optional.empty(), going);
        if (changeTiming.isDriven()) {
            state.steps()
                    .await(
                            state.clock(),
                            PendingStep.later(state.clock(), decision.deadline()),
                            PendingStep.Kind.RECUT,
                            subject,
                            "");
            state.orders().add(new Order.Cut(decision.id(), gpu, profiles));
            return;
        }
        Duration takes = changeTiming.ready();
        state.steps()
                .plan(
                        state.clock(),
                        state.clock().plus(takes),
                        PendingStep.Kind.RECUT,
                        subject,
                        new PendingSteps.Account(
                                ActuationState.timings(Duration.ZERO, Optional.empty(), Optional.of(takes)), true, ""));
    }

    @Override
    public DecisionHandler renew(Action.Renew renew) {
        var renewed = new ArrayList<GpuId>();
        var ended = new ArrayList<GpuId>();
        for (GpuId gpu : renew.gpus()) {
            (state.renewLoan(gpu, renew.until()) ? renewed : ended).add(gpu);
        }
        if (!renewed.isEmpty()) {
            inForce(renewed);
        }
        if (!ended.isEmpty()) {
            refused(Refusal.NOT_ON_LOAN, ended, "no loan to renew: " + stateOf(ended.get(0)));
        }
        return this;
    }

    @Override
    public DecisionHandler hold(Action.Hold hold) {
        return this;
    }

    private DecisionHandler inForce(List<GpuId> gpus) {
        Optional<Tenant> tenant = decision.action().match(new TenantOf());
        reports.add(state.report(decision.id(), Outcome.ACCEPTED, gpus, tenant, Timings.NONE, ""));
        reports.add(state.report(decision.id(), Outcome.APPLIED, gpus, tenant, Timings.NONE, ""));
        return this;
    }

    private DecisionHandler refused(Refusal refusal, Collection<GpuId> gpus, String reason) {
        state.refuse(decision, refusal, gpus, reason, reports);
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
        state.acknowledgeVacated(job, all, named);
        SortedSet<GpuId> active = state.active(job);
        var gained = new ArrayList<GpuId>();
        var lost = new ArrayList<GpuId>();
        for (GpuId gpu : allocation.gpus()) {
            if (active.contains(gpu)) {
                continue;
            }
            boolean training = state.inventory().isTraining(gpu);
            Optional<Refusal> taken = whyNotFree(gpu);
            if (!named.contains(gpu)) {
                boolean vacated = state.isVacatedBy(job, gpu);
                (fillsUp && training && taken.isEmpty() && !vacated ? gained : lost).add(gpu);
                continue;
            }
            if (taken.isPresent()) {
                return refused(taken.get(), named, "%s cannot be bound: %s".formatted(gpu, stateOf(gpu)));
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
            state.count(Refusal.NOT_ON_LOAN);
        }
        carryOut(
                job,
                named,
                kept,
                gained,
                by,
                allocation,
                lost.isEmpty() ? "" : "goes on without %s: %s".formatted(ReasonText.names(lost), stateOf(lost.get(0))));
        lease.ifPresent(until -> state.lend(job, named, new Holding.Loan(decision.id(), until)));
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
        state.reuseVacated(gained);
        TenantChange change = state.change(tenant, named, kept, gained);
        if (change.isForeignOnly()) {
            return refuseForeign(change);
        }
        boolean isJob = tenant instanceof Tenant.Job;
        List<PendingStep> open = isJob ? state.steps().of(tenant, PendingStep.Kind.APPLY) : List.of();
        Duration remaining = open.stream()
                .map(step -> Duration.between(state.clock(), step.due()))
                .max(Duration::compareTo)
                .orElse(Duration.ZERO);
        ChangeTiming changeTiming = state.delays()
                .changeTiming(new ChangeFacts(
                        decision.id(),
                        tenant,
                        change.leaving(),
                        change.gained(),
                        change.before(),
                        change.after(),
                        allocation.mechanism(),
                        allocation.localBatch(),
                        remaining,
                        state.jobOf(decision.id().domain(), tenant),
                        state.serviceOf(decision.id().domain(), tenant)));
        if (changeTiming.trouble() == ChangeTiming.FailureMode.NO_DRIVER) {
            return refused(Refusal.UNSUPPORTED, named, "no driver here runs " + tenant);
        }
        boolean warm = decision.action() instanceof Action.Serve serve && serve.warm();
        Collection<GpuId> about = warm ? decision.action().gpus() : change.changing();
        reports.add(state.report(decision.id(), Outcome.ACCEPTED, about, Optional.of(tenant), Timings.NONE, remark));
        if (!change.foreign().isEmpty()) {
            refuseForeign(change);
        }
        if (!change.nobodys().isEmpty()) {
            reports.add(state.report(
                    decision.id(),
                    Outcome.RELEASED,
                    change.nobodys(),
                    Optional.of(tenant),
                    ActuationState.timings(Duration.ZERO, Optional.empty(), Optional.empty()),
                    "nothing ran there any more"));
        }
        state.steps().expedite(decision.id(), change.underWay(), by, state.clock());

        if (changeTiming.isDriven()) {
            return driven(
                    tenant, change.leaving(), gained, isJob ? Optional.of(allocation) : Optional.empty(), by, remark);
        }
        boolean reported = changeTiming.trouble() != ChangeTiming.FailureMode.UNREPORTED;

        Instant left = state.leave(decision.id(), tenant, change.leaving(), changeTiming, by, "");
        Instant last = left;
        boolean fails = !gained.isEmpty() && changeTiming.trouble() == ChangeTiming.FailureMode.BIND_FAILS;
        if (!gained.isEmpty()) {
            state.startBinding(tenant, gained);
            Instant bound = left.plus(changeTiming.bind());
            last = PendingStep.later(last, bound);
            state.steps()
                    .plan(
                            state.clock(),
                            bound,
                            fails ? PendingStep.Kind.FAIL : PendingStep.Kind.BIND,
                            PendingSteps.Subject.of(decision.id(), tenant, gained),
                            new PendingSteps.Account(
                                    ActuationState.timings(
                                            Duration.between(state.clock(), left),
                                            Optional.of(changeTiming.bind()),
                                            Optional.empty()),
                                    reported,
                                    fails ? "did not come up" : ""));
        }
        if (isJob) {
            for (PendingStep bind : state.steps().of(tenant, PendingStep.Kind.BIND)) {
                last = PendingStep.later(last, bind.due());
            }
        }
        Instant applied = PendingStep.later(last, state.clock().plus(changeTiming.ready()));
        for (PendingStep older : open) {
            state.steps().remove(older);
            state.steps()
                    .plan(
                            state.clock(),
                            fails ? last : applied,
                            PendingStep.Kind.APPLY,
                            PendingSteps.Subject.of(older.decision(), tenant, List.of()),
                            new PendingSteps.Account(
                                    older.timings(), older.reported(), "superseded by " + decision.id()));
        }
        if (!fails) {
            var after = new TreeSet<>(kept);
            after.addAll(gained);
            state.steps()
                    .plan(
                            state.clock(),
                            applied,
                            PendingStep.Kind.APPLY,
                            PendingSteps.Subject.of(decision.id(), tenant, isJob ? after : about),
                            new PendingSteps.Account(
                                    ActuationState.timings(
                                            Duration.between(state.clock(), left),
                                            Optional.of(Duration.between(left, last)),
                                            Optional.of(Duration.between(last, applied))),
                                    reported,
                                    remark));
        }
        return this;
    }

    private DecisionHandler refuseForeign(TenantChange change) {
        GpuId first = change.foreign().get(0);
        return refused(
                Refusal.GPU_NOT_HELD,
                change.foreign(),
                "%s is not %s's: %s".formatted(first, change.tenant(), stateOf(first)));
    }

    /** Orders from a driver what has been taken up. */
    private DecisionHandler driven(
            Tenant tenant,
            List<GpuId> leaving,
            List<GpuId> gained,
            Optional<Allocation> allocation,
            Instant by,
            String remark) {
        state.leave(decision.id(), tenant, leaving, ChangeTiming.DRIVEN, by, "");
        state.startBinding(tenant, gained);
        Instant deadline = PendingStep.later(state.clock(), decision.deadline());
        if (!gained.isEmpty()) {
            state.steps()
                    .await(
                            state.clock(),
                            deadline,
                            PendingStep.Kind.BIND,
                            PendingSteps.Subject.of(decision.id(), tenant, gained),
                            "");
        }
        SortedSet<GpuId> after = state.active(tenant);
        state.steps()
                .await(
                        state.clock(),
                        deadline.plus(Actuation.PATIENCE),
                        PendingStep.Kind.APPLY,
                        PendingSteps.Subject.of(decision.id(), tenant, after),
                        remark);
        var out = new TreeSet<>(state.held(tenant));
        out.removeAll(after);
        state.orders()
                .add(new Order.Place(decision.id(), tenant, List.copyOf(after), List.copyOf(out), allocation, by));
        return this;
    }

    private Optional<Refusal> whyNotFree(GpuId gpu) {
        if (!state.inventory().isKnown(gpu)) {
            return Optional.of(Refusal.GPU_UNKNOWN);
        }
        if (state.inventory().isElsewhere(decision.id().domain(), gpu)) {
            return Optional.of(Refusal.OTHER_DOMAIN);
        }
        return state.holding(gpu).isPresent() || state.steps().isRecut(gpu)
                ? Optional.of(Refusal.GPU_HELD)
                : Optional.empty();
    }

    private String stateOf(GpuId gpu) {
        return state.holding(gpu)
                .map(holding -> switch (holding.phase()) {
                    case BINDING -> "it is being bound to " + holding.tenant();
                    case BOUND -> holding.tenant() + " has it, and its release has not been asked for";
                    case RELEASING -> holding.tenant() + " is still leaving it";
                })
                .orElseGet(() -> state.steps().isRecut(gpu)
                        ? "it is being cut"
                        : state.inventory().isKnown(gpu) ? "nobody has it" : "no node that is known has it");
    }
}

package io.lendstream.core.actuation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Adopted;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.JobChange;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.FoundTenant;
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

/** Refuses a decision, or starts what it asks for, and returns the reports on that. */
final class DecisionHandler implements Action.Cases<List<ActuationReport>> {
    private final ActuationState state;
    private final UnitAvailability availability;
    private final ChangeStarter starter;
    private final DecisionScope scope;
    private final Decision decision;
    private final List<ActuationReport> reports = new ArrayList<>();

    DecisionHandler(ActuationState state, Decision decision) {
        this.state = state;
        this.availability = new UnitAvailability(state);
        this.starter = new ChangeStarter(state);
        this.scope = new DecisionScope(state);
        this.decision = decision;
    }

    @Override
    public List<ActuationReport> lend(Action.Lend lend) {
        if (!lend.until().isAfter(state.clock())) {
            return refused(
                    Refusal.LEASE_OVER,
                    scope.own(lend.gpus()),
                    "the lease until %s is over at %s".formatted(lend.until(), state.clock()));
        }
        return changeJob(
                lend.job(), scope.own(lend.gpus()), lend.allocation(), decision.deadline(), Optional.of(lend.until()));
    }

    @Override
    public List<ActuationReport> reclaim(Action.Reclaim reclaim) {
        return changeJob(
                reclaim.job(), scope.own(reclaim.gpus()), reclaim.allocation(), reclaim.by(), Optional.empty());
    }

    @Override
    public List<ActuationReport> resize(Action.Resize resize) {
        return changeJob(
                resize.job(), scope.own(resize.gpus()), resize.allocation(), decision.deadline(), Optional.empty());
    }

    @Override
    public List<ActuationReport> serve(Action.Serve serve) {
        var service = new Tenant.Service(serve.service());
        List<GpuId> named = scope.own(serve.gpus());
        for (GpuId gpu : named) {
            if (serve.warm() && !state.isBound(service, gpu)) {
                return refused(
                        Refusal.GPU_NOT_HELD,
                        named,
                        "%s has no warm replica of %s: %s".formatted(gpu, service, availability.describe(gpu)));
            }
            Optional<Refusal> taken = serve.warm() ? Optional.empty() : whyNotFree(gpu);
            if (taken.isPresent()) {
                return refused(taken.get(), named, "%s cannot be bound: %s".formatted(gpu, availability.describe(gpu)));
            }
        }
        List<GpuId> gained = serve.warm() ? List.of() : named;
        TenantChange change = state.change(service, List.of(), state.active(service), gained);
        return isRefused(change, named)
                ? reports
                : start(new AcceptedChange(decision, change, decision.deadline(), Optional.empty(), ""));
    }

    @Override
    public List<ActuationReport> idle(Action.Idle idle) {
        var service = new Tenant.Service(idle.service());
        List<GpuId> named = scope.own(idle.gpus());
        SortedSet<GpuId> kept = state.active(service);
        kept.removeAll(Set.copyOf(named));
        TenantChange change = state.change(service, named, kept, List.of());
        return isRefused(change, named)
                ? reports
                : start(new AcceptedChange(decision, change, idle.by(), Optional.empty(), ""));
    }

    @Override
    public List<ActuationReport> batching(Action.Batching batching) {
        List<GpuId> named = scope.own(batching.gpus());
        if (!state.driver().batches()) {
            return refused(Refusal.UNSUPPORTED, named, "no driver here changes how services batch");
        }
        accepted(named, "");
        starter.batch(decision, new Action.Batching(batching.service(), named, batching.profile(), batching.buckets()));
        return reports;
    }

    @Override
    public List<ActuationReport> repartition(Action.Repartition repartition) {
        List<GpuId> named = scope.own(repartition.gpus());
        List<GpuCutting> cuttings = named.stream()
                .map(gpu -> new GpuCutting(
                        gpu, repartition.profiles(), state.inventory().cuttable(gpu)))
                .toList();
        if (!cuttings.stream().allMatch(GpuCutting::isPossible)) {
            return refused(
                    Refusal.UNSUPPORTED,
                    named,
                    "the MIG mode of this GPU may not be switched here; use the tools of its node");
        }
        for (GpuCutting cutting : cuttings) {
            for (GpuId unit : cutting.going()) {
                Optional<Refusal> taken = whyNotFree(unit);
                if (taken.isPresent()) {
                    return refused(
                            taken.get(), named, "%s is in the way: %s".formatted(unit, availability.describe(unit)));
                }
            }
        }
        if (!state.driver().cuts()) {
            return refused(Refusal.UNSUPPORTED, named, "no driver here cuts GPUs");
        }
        accepted(named, "");
        cuttings.forEach(cutting -> starter.cut(decision, cutting));
        return reports;
    }

    @Override
    public List<ActuationReport> renew(Action.Renew renew) {
        var renewed = new ArrayList<GpuId>();
        var ended = new ArrayList<GpuId>();
        for (GpuId gpu : scope.own(renew.gpus())) {
            (state.renewLoan(gpu, renew.until()) ? renewed : ended).add(gpu);
        }
        if (!renewed.isEmpty()) {
            accepted(renewed, "");
            reports.add(state.report(decision.id(), Outcome.APPLIED, renewed, Optional.empty(), Timings.NONE, ""));
        }
        if (!ended.isEmpty()) {
            refused(Refusal.NOT_ON_LOAN, ended, "no loan to renew: " + availability.describe(ended.get(0)));
        }
        return reports;
    }

    @Override
    public List<ActuationReport> hold(Action.Hold hold) {
        return List.of();
    }

    @Override
    public List<ActuationReport> adopt(Action.Adopt adopt) {
        Tenant tenant = adopt.tenant();
        List<GpuId> named = scope.own(adopt.gpus());
        List<GpuId> gained = new ArrayList<>(named);
        gained.removeAll(state.active(tenant)); // a decision about what is there already
        for (GpuId gpu : gained) {
            Optional<Refusal> taken = whyNotFree(gpu);
            if (taken.isPresent()) {
                return refused(
                        taken.get(), named, "%s cannot be taken over: %s".formatted(gpu, availability.describe(gpu)));
            }
        }
        TenantChange change = state.change(tenant, named, state.active(tenant), gained);
        if (isRefused(change, named)) {
            return reports;
        }
        start(new AcceptedChange(decision, change, decision.deadline(), adopt.allocation(), ""));
        adopt.until().ifPresent(until -> state.lend(tenant, onLoan(named), new Holding.Loan(decision.id(), until)));
        List<GpuId> there =
                named.stream().filter(gpu -> state.isBound(tenant, gpu)).toList();
        if (!there.isEmpty()) {
            reports.add(state.report(
                    decision.id(),
                    Outcome.BOUND,
                    there,
                    Optional.of(tenant),
                    Timings.NONE,
                    "it is taken over already"));
        }
        return reports;
    }

    private List<GpuId> onLoan(List<GpuId> gpus) {
        return gpus.stream().filter(gpu -> !state.inventory().isTraining(gpu)).toList();
    }

    /**
     * Changes a job to an allocation. Training GPUs that the allocation names, but the decision does not, are bound as
     * well, unless the job left them by itself, or the decision is a {@link Action.Resize}.
     *
     * @param lease end of the lease of the GPUs named, where they are lent
     */
    private List<ActuationReport> changeJob(
            JobId id, List<GpuId> named, Allocation allocation, Instant by, Optional<Instant> lease) {
        var job = new Tenant.Job(id);
        Set<GpuId> all = Set.copyOf(allocation.gpus());
        state.vacated().acknowledge(job, all, named);
        SortedSet<GpuId> active = state.active(job);
        var gained = new ArrayList<GpuId>();
        var lost = new ArrayList<GpuId>();
        for (GpuId gpu : allocation.gpus()) {
            if (active.contains(gpu) || state.inventory().isOutside(gpu)) {
                continue;
            }
            if (!named.contains(gpu)) {
                (fillsUpWith(job, gpu) ? gained : lost).add(gpu);
                continue;
            }
            Optional<Refusal> taken = whyNotFree(gpu);
            if (taken.isPresent()) {
                return refused(taken.get(), named, "%s cannot be bound: %s".formatted(gpu, availability.describe(gpu)));
            }
            if (lease.isEmpty() && !state.inventory().isTraining(gpu)) {
                return refused(
                        Refusal.NOT_ON_LOAN,
                        named,
                        "%s is an inference GPU: a job gets it only on loan".formatted(gpu));
            }
            gained.add(gpu);
        }
        active.retainAll(all);
        TenantChange change = state.change(job, named, active, gained);
        if (isIncomplete(change, named, lost) || isRefused(change, named)) {
            return reports;
        }
        start(new AcceptedChange(decision, change, by, Optional.of(allocation), remark(lost)));
        lease.ifPresent(until -> state.lend(job, named, new Holding.Loan(decision.id(), until)));
        return reports;
    }

    /**
     * Refuses a start of a gang without some of its GPUs; whether it has. If the gang is to leave GPUs too, it goes on:
     * these are not kept.
     *
     * @param lost GPUs of the allocation that the job does not get
     */
    private boolean isIncomplete(TenantChange change, List<GpuId> named, List<GpuId> lost) {
        if (lost.isEmpty()) {
            return false;
        }
        boolean isGang = state.tenants()
                .job(decision.id().domain(), change.tenant())
                .filter(job -> job.shape().gang())
                .isPresent();
        if (!isGang || change.gained().isEmpty() || !change.leaving().isEmpty()) {
            state.count(Refusal.NOT_ON_LOAN);
            return false;
        }
        refused(
                Refusal.GPU_NOT_HELD,
                named,
                "%s is a gang and would start without %s: %s"
                        .formatted(change.tenant(), ReasonText.names(lost), availability.describe(lost.get(0))));
        return true;
    }

    private boolean fillsUpWith(Tenant job, GpuId gpu) {
        return !(decision.action() instanceof Action.Resize)
                && state.inventory().isTraining(gpu)
                && whyNotFree(gpu).isEmpty()
                && !state.vacated().wereOf(job, gpu);
    }

    private String remark(List<GpuId> lost) {
        return lost.isEmpty()
                ? ""
                : "goes on without %s: %s".formatted(ReasonText.names(lost), availability.describe(lost.get(0)));
    }

    /** Refuses a change that only names GPUs of others, is late, or that no driver here can do; whether it has. */
    private boolean isRefused(TenantChange change, List<GpuId> named) {
        Optional<DecisionFence.Objection> late = new DecisionFence(state).lateness(decision, change);
        if (late.isPresent()) {
            refused(late.get().refusal(), named, late.get().text());
            return true;
        }
        state.vacated().reuse(change.gained());
        if (change.isForeignOnly()) {
            refuseForeign(change);
            return true;
        }
        if (isTooWide(change)) {
            refused(
                    Refusal.UNSUPPORTED,
                    named,
                    "%s would run on nodes of several actuators, which the driver of this one cannot do"
                            .formatted(change.tenant()));
            return true;
        }
        if (!state.driver()
                .runs(change.tenant(), state.tenants().job(decision.id().domain(), change.tenant()))) {
            refused(Refusal.UNSUPPORTED, named, "no driver here runs " + change.tenant());
            return true;
        }
        return false;
    }

    /** Whether a job is to grow beyond the nodes of this actuator, whose driver runs a job on one node. */
    private boolean isTooWide(TenantChange change) {
        return !state.driver().abilities().spansNodes()
                && !change.gained().isEmpty()
                && !change.givesUp()
                && decision.action()
                        .jobChange()
                        .map(JobChange::allocation)
                        .filter(allocation -> allocation.gpus().stream().anyMatch(state.inventory()::isOutside))
                        .isPresent();
    }

    /** Reports that the decision is accepted, and starts the change. */
    private List<ActuationReport> start(AcceptedChange accepted) {
        TenantChange change = accepted.change();
        accepted(accepted.about(), accepted.remark());
        if (!change.foreign().isEmpty()) {
            refuseForeign(change);
        }
        if (!change.free().isEmpty()) {
            reports.add(state.report(
                    decision.id(),
                    Outcome.RELEASED,
                    change.free(),
                    Optional.of(change.tenant()),
                    new Timings(Optional.empty(), Optional.of(Duration.ZERO), Optional.empty(), Optional.empty()),
                    "nothing ran there any more"));
        }
        change.givenUp().forEach(each -> giveUp(change.tenant(), each));
        state.steps().expedite(decision.id(), change.alreadyLeaving(), accepted.by(), state.clock());
        starter.start(accepted);
        return reports;
    }

    /** Something that was taken over is not the tenant's any more. The driver lets it go, because no order names it. */
    private void giveUp(Tenant tenant, Adopted one) {
        List<FoundTenant> behind = new LeftBehind(state).of(tenant, one.units());
        state.steps().withdraw(one.units(), step -> true);
        state.free(one.units());
        reports.add(state.report(
                        decision.id(),
                        Outcome.RELEASED,
                        one.units(),
                        Optional.of(tenant),
                        Timings.NONE,
                        "given up, as the decision does not know of it: %s runs on".formatted(one.user()))
                .leaving(behind));
    }

    private void accepted(Collection<GpuId> gpus, String remark) {
        Optional<Tenant> tenant = decision.action().match(new TenantOf());
        reports.add(state.report(decision.id(), Outcome.ACCEPTED, gpus, tenant, Timings.NONE, remark));
    }

    private List<ActuationReport> refuseForeign(TenantChange change) {
        GpuId first = change.foreign().get(0);
        return refused(
                Refusal.GPU_NOT_HELD,
                change.foreign(),
                "%s is not %s's: %s".formatted(first, change.tenant(), availability.describe(first)));
    }

    private List<ActuationReport> refused(Refusal refusal, Collection<GpuId> gpus, String reason) {
        state.refuse(decision, refusal, gpus, reason, reports);
        return reports;
    }

    private Optional<Refusal> whyNotFree(GpuId gpu) {
        return availability.whyNotFree(decision.id().domain(), gpu);
    }
}

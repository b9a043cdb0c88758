package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.scheduler.UnitReview.Cause;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Promise;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds why each GPU of a domain is not lent. It {@linkplain Rehearsal rehearses} a step with a plan on the state of
 * the domain. The reason is the decision of that step about the GPU, or the cause that a {@link StepListener} receives
 * for the lack of one. So a reason holds exactly as long as the scheduler acts on it.
 */
public final class LendingReview {
    private final Scheduler scheduler;
    private final ClusterState state;
    private final Instant now;
    private final Rehearsal rehearsal;
    private final PlannedJobs jobs;

    private LendingReview(Scheduler scheduler, ClusterState state, Instant now) {
        this.scheduler = scheduler;
        this.state = state;
        this.now = now;
        this.rehearsal = Rehearsal.of(scheduler, state, now);
        this.jobs = new PlannedJobs(scheduler, rehearsal, now);
    }

    /**
     * Reviews a domain.
     *
     * @param at the time to judge by; the state's own where that is later
     */
    public static LendingReview of(Scheduler scheduler, ClusterState state, Instant at) {
        return new LendingReview(scheduler, state, at.isAfter(state.now()) ? at : state.now());
    }

    /** The time that it judges by. */
    public Instant now() {
        return now;
    }

    /** All GPUs and MIG instances of inference, by node; GPUs in MIG mode that have no instance too. */
    public List<UnitReview> inference() {
        return Stream.concat(
                        state.clusterIndex().gpus().seats().stream()
                                .filter(unit -> unit.pool() == Pool.INFERENCE)
                                .map(this::review),
                        uncut().map(LendingReview::withoutInstances))
                .toList();
    }

    /** One GPU or MIG instance, or all instances of one GPU; none where the domain has no such GPU. */
    public List<UnitReview> of(GpuId gpu) {
        return Stream.concat(
                        state.clusterIndex().gpus().seats().stream()
                                .filter(unit -> unit.gpuId().equals(gpu)
                                        || unit.instance()
                                                .filter(instance ->
                                                        instance.gpu().equals(gpu))
                                                .isPresent())
                                .map(this::review),
                        uncut().filter(each -> each.gpuId().equals(gpu)).map(LendingReview::withoutInstances))
                .toList();
    }

    private Stream<Gpu> uncut() {
        return state.nodes().stream()
                .map(NodeState::node)
                .filter(node -> node.pool() == Pool.INFERENCE)
                .flatMap(node -> node.gpus().stream())
                .filter(gpu -> gpu.migEnabled() && gpu.instances().isEmpty());
    }

    private static UnitReview withoutInstances(Gpu gpu) {
        return lasting(gpu.gpuId(), Cause.CUT, "it is in MIG mode but has no MIG instance");
    }

    private UnitReview review(GpuState unit) {
        return unit.owner().match(new ByOwner(unit));
    }

    private static UnitReview lasting(GpuId unit, Cause cause, String reason) {
        return new UnitReview(unit, cause, reason, Optional.empty());
    }

    /** The time left, such as {@code 12 s}. */
    private String within(Instant end) {
        return "%d s".formatted(Math.max(0, Duration.between(now, end).toSeconds()));
    }

    /** A unit without a tenant, or with a sleeping replica. */
    private UnitReview idle(GpuState unit) {
        GpuId id = unit.gpuId();
        Rehearsal.Notes notes = rehearsal.notes();
        LoanGuard loans = new LoanGuard(rehearsal.before(), scheduler.settings());
        TrustGuard trust = loans.trust();
        if (state.mode().level().onlyObserves()) {
            return lasting(id, Cause.TRUST, trust.limit().orElseThrow());
        }
        Optional<Decision> decision = rehearsal.decision(id);
        if (decision.isPresent()) {
            return decided(unit, decision.get());
        }
        if (unit.pool() == Pool.TRAINING) {
            return lasting(id, Cause.IN_USE, "it is free, and belongs to the training pool");
        }
        if (isToBeCut(id)) {
            return lasting(id, Cause.CUT, "its GPU is about to be cut for services");
        }
        if (!rehearsal.before().isReachable(unit)) {
            return lasting(id, Cause.NODE_AWAY, away(unit));
        }
        Optional<String> off = new Safety(scheduler.settings()).againstLending();
        if (off.isPresent()) {
            return lasting(id, Cause.LENDING_OFF, off.get());
        }
        return unplanned(unit)
                .or(() -> trust.against(unit).map(why -> lasting(id, Cause.TRUST, why)))
                .or(() -> loans.bySlo(unit).map(why -> lasting(id, Cause.NEEDED, why)))
                .orElseGet(
                        () -> unit.isWhole()
                                ? planned(unit, notes.plan(id).orElseThrow())
                                : lasting(
                                        id,
                                        Cause.NOT_PLANNED,
                                        notes.unlent(id)
                                                .orElse(
                                                        "only MIG instances of inference are lent, and this one belongs to training")));
    }

    /** Why the plan was not asked for this unit; empty if it was. */
    private Optional<UnitReview> unplanned(GpuState unit) {
        GpuId id = unit.gpuId();
        Rehearsal.Notes notes = rehearsal.notes();
        for (Promise promise : state.promises()) {
            if (promise.unit().equals(id)) {
                boolean isForGroup = promise.tenant()
                        .serviceId()
                        .flatMap(state.services()::get)
                        .filter(service -> service.spec().hasGroups())
                        .isPresent();
                String text = isForGroup
                        ? "it is promised to %s, a replica of which waits for its other GPUs"
                        : "it is promised to %s, which waits for other GPUs of the nominal quota of its queue";
                return Optional.of(lasting(id, Cause.NEEDED, text.formatted(promise.tenant())));
            }
        }
        if (!notes.hasJobs()) {
            int refused = rehearsal.after().clusterIndex().jobs().refused().size();
            String but = refused == 0 ? "" : ", except " + Reason.counted(refused, "job") + " that cannot be admitted";
            return Optional.of(lasting(id, Cause.NO_JOB, "no training job waits or runs" + but));
        }
        if (!notes.hasPlan()) {
            return Optional.of(lasting(
                    id,
                    Cause.NO_PLAN,
                    "no training plan is made: " + notes.unplanned().orElse(backlog())));
        }
        Optional<String> noLoans = notes.unlendable().filter(any -> unit.pool() == Pool.INFERENCE);
        return noLoans.map(why -> lasting(id, Cause.NO_NEW_LOANS, "no further GPU is lent: " + why))
                .or(() -> notes.unlent(id).filter(any -> unit.isWhole()).map(why -> lasting(id, Cause.ABILITY, why)))
                .or(() -> notes.kept(id).map(why -> lasting(id, Cause.RESERVE, "it is kept as reserve: " + why)));
    }

    private boolean isToBeCut(GpuId unit) {
        return rehearsal
                .after()
                .gpus()
                .get(unit)
                .filter(gpu -> gpu.owner().isRecutting())
                .isPresent();
    }

    private String away(GpuState unit) {
        return state.nodes()
                .get(unit.nodeId())
                .map(node -> "the agent of node %s reports the node as %s"
                        .formatted(unit.nodeId(), node.node().status().name().toLowerCase(Locale.ROOT)))
                .orElse("node %s has left".formatted(unit.nodeId()));
    }

    private String backlog() {
        return scheduler
                .decidesFrom()
                .map(from -> "the scheduler took over a backlog and makes no decisions for times before " + from)
                .orElse("the scheduler makes no decisions now");
    }

    /** The rehearsed step decides about the unit. */
    private UnitReview decided(GpuState unit, Decision decision) {
        GpuId id = unit.gpuId();
        String why = decision.reason().text();
        if (decision.advisory()) {
            String standing = state.advice()
                    .flatMap(advice -> advice.standing(decision))
                    .map(advised -> " " + advised.id())
                    .orElse("");
            return lasting(
                    id,
                    Cause.ADVICE,
                    "decisions are only advice, until 'lendstream approve%s' or 'lendstream %s' puts them in force: %s"
                            .formatted(standing, state.mode().level().isAdvice() ? "trust" : "advisory off", why));
        }
        if (decision.action().asServe().isPresent()) {
            return lasting(id, Cause.NEEDED, why);
        }
        boolean isPlanned = Stream.of(ReasonCode.PLAN, ReasonCode.SLICE).anyMatch(decision.reason()::is);
        if (!isPlanned) {
            return lasting(id, Cause.NEEDED, why);
        }
        String does = decision.action().asIdle().isPresent()
                ? "stops its sleeping replica to lend it to"
                : unit.pool() == Pool.INFERENCE ? "lends it to" : "gives it to";
        String job = rehearsal
                .notes()
                .plan(id)
                .flatMap(plan -> plan.job(id))
                .map(JobId::value)
                .orElse(decision.action().target());
        Optional<Instant> at = state.nextPlanAt().filter(now::isBefore);
        return new UnitReview(
                id,
                Cause.NEXT_PLAN,
                "the next plan (%s) %s %s: %s"
                        .formatted(at.map(time -> "in " + within(time)).orElse("due now"), does, job, why),
                at);
    }

    private UnitReview planned(GpuState unit, Rehearsal.Planned plan) {
        GpuId id = unit.gpuId();
        if (plan.plan().left().contains(id)) {
            return lasting(id, Cause.NEEDED, "the policy leaves it to a replica that waits for a GPU");
        }
        Optional<JobId> job = plan.job(id);
        if (job.isEmpty()) {
            return lasting(id, Cause.NOT_PLANNED, jobs.inWords(plan));
        }
        Optional<String> veto = rehearsal.notes().veto(job.get());
        return veto.isPresent()
                ? lasting(
                        id,
                        Cause.LIMIT,
                        "the plan gives it to %s, which does not get it: %s".formatted(job.get(), veto.get()))
                : lasting(id, Cause.PLANNED, awaited(job.get()));
    }

    /** The job also waits for GPUs that others have to leave first. */
    private String awaited(JobId name) {
        JobState job = rehearsal.after().jobs().require(name);
        List<String> others = new ArrayList<>();
        for (GpuId gpu : job.target()) {
            Optional<GpuState> known = rehearsal.after().gpus().get(gpu);
            if (!job.allocation().gpus().contains(gpu)
                    && known.filter(each -> !each.isFree()).isPresent()) {
                others.add("%s (%s)".formatted(gpu, known.get().owner().label()));
            }
        }
        return others.isEmpty()
                ? "the plan gives it to %s together with GPUs that are not available now; the next plan chooses others"
                        .formatted(name)
                : "the plan gives it to %s, which waits for %s of the plan: %s"
                        .formatted(name, Reason.counted(others.size(), "other GPU"), String.join(", ", others));
    }

    /** The reason by the owner of the unit. */
    private final class ByOwner implements Owner.Cases<UnitReview> {
        private final GpuState unit;

        ByOwner(GpuState unit) {
            this.unit = unit;
        }

        private UnitReview lasts(Cause cause, String reason) {
            return lasting(unit.gpuId(), cause, reason);
        }

        private UnitReview until(Instant end, Cause cause, String reason) {
            return new UnitReview(unit.gpuId(), cause, reason, Optional.of(end));
        }

        @Override
        public UnitReview free(Owner.Free free) {
            return idle(unit);
        }

        @Override
        public UnitReview binding(Owner.Binding binding) {
            return until(
                    binding.deadline(),
                    Cause.IN_TRANSFER,
                    "it is being bound to %s by decision %s, in at most %s"
                            .formatted(binding.tenant(), binding.decision(), within(binding.deadline())));
        }

        @Override
        public UnitReview lent(Owner.Lent lent) {
            return until(
                    lent.until(),
                    Cause.LENT,
                    "it is lent to %s by decision %s, for another %s unless the loan is renewed"
                            .formatted(lent.job(), lent.decision(), within(lent.until())));
        }

        @Override
        public UnitReview training(Owner.Training training) {
            return lasts(
                    Cause.IN_USE, "%s trains on it, and it belongs to the training pool".formatted(training.job()));
        }

        @Override
        public UnitReview serving(Owner.Serving serving) {
            ServiceId service = serving.service();
            boolean isToRest = rehearsal
                    .after()
                    .gpus()
                    .get(unit.gpuId())
                    .filter(gpu -> gpu.owner().isProtected())
                    .isPresent();
            return isToRest
                    ? lasts(
                            Cause.KEPT_WARM,
                            "%s no longer needs it%s; the replica stays warm for a while first"
                                    .formatted(service, need(service)))
                    : lasts(Cause.IN_USE, "%s runs on it%s".formatted(service, need(service)));
        }

        private String need(ServiceId service) {
            return rehearsal
                    .notes()
                    .need(service)
                    .map(need -> ": " + need.explained() + ", "
                            + RunningReplicas.of(state, service).inWords())
                    .orElse("");
        }

        @Override
        public UnitReview protectedReplica(Owner.Protected replica) {
            return until(
                    replica.until(),
                    Cause.KEPT_WARM,
                    "%s needed it until a short time ago%s; its replica stays warm for another %s"
                            .formatted(replica.service(), need(replica.service()), within(replica.until())));
        }

        @Override
        public UnitReview sleeping(Owner.Sleeping sleeping) {
            return idle(unit);
        }

        @Override
        public UnitReview releasing(Owner.Releasing releasing) {
            return until(
                    releasing.by(),
                    Cause.IN_TRANSFER,
                    "it is being released from %s by decision %s, in at most %s"
                            .formatted(releasing.tenant(), releasing.decision(), within(releasing.by())));
        }

        @Override
        public UnitReview recutting(Owner.Recutting recutting) {
            return until(
                    recutting.deadline(),
                    Cause.CUT,
                    "it is being %s by decision %s, in at most %s"
                            .formatted(
                                    recutting.coming() ? "made" : "removed",
                                    recutting.decision(),
                                    within(recutting.deadline())));
        }

        @Override
        public UnitReview quarantined(Owner.Quarantined quarantined) {
            if (quarantined.foreign().isPresent()) {
                return lasts(Cause.FOREIGN, quarantined.foreign().get().outlook());
            }
            return lasts(
                    Cause.OUT_OF_SERVICE,
                    "it is out of service: %s; repair it, then run 'lendstream reset %s'"
                            .formatted(quarantined.reason(), unit.gpuId()));
        }
    }
}

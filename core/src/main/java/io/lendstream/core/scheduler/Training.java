package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

/** Plans training at its times, and moves jobs towards the plan as GPUs become free. */
final class Training {
    /** The longest time between two plans while there are jobs. */
    private static final Duration LONGEST_REST = Duration.ofHours(1);

    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final PlanTimes times;
    private final Safety safety;
    private final QuotaGuard quotas;
    private final AbilityGuard abilities;
    private final Bundles bundles;
    private final ShapeGuard shapes;
    private final HostRoom hosts;

    Training(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.times = new PlanTimes(policy, settings);
        this.safety = new Safety(settings);
        this.quotas = new QuotaGuard(builder);
        this.abilities = new AbilityGuard(builder);
        this.bundles = new Bundles(builder);
        this.shapes = new ShapeGuard(builder, settings.model().topology());
        this.hosts = new HostRoom(builder);
    }

    /** Makes a new plan. The first time comes after that at which a domain is first seen. */
    void plan() {
        boolean first = builder.nextPlanAt().isEmpty();
        builder.nextPlanAt(soon());
        if (first) {
            return;
        }
        if (hasNoJobs() && builder.clusterIndex().jobs().refused().isEmpty()) {
            restWithoutJobs();
            return;
        }
        Optional<String> veto = safety.againstChanges(builder).or(() -> safety.againstPlans(builder.now()));
        if (veto.isPresent()) {
            builder.listener().unplanned(veto.get());
            hold(ReasonCode.HELD, "no training plan is made: " + veto.get());
            return;
        }
        builder.expectLookUps();
        new AdmissionControl(builder, settings).answer();
        if (hasNoJobs()) {
            restWithoutJobs();
            return;
        }
        Optional<String> noLoans = safety.againstLoans(builder);
        if (settings.lending() && noLoans.isPresent()) {
            builder.listener().unlendable(noLoans.get());
            hold(ReasonCode.STALE, "no further GPU is lent: " + noLoans.get());
        }
        new TransferPace(builder, settings).recover();
        LoanLimit.forget(builder, policy);
        TrainingView training = new TrainingView(builder, settings).starting(policy);
        ClusterView view = training.view(justChanged());
        Plan plan = shapes.within(new KindPools(builder, policy, training).plan(view), training, view);
        boolean whole = adopt(plan, noLoans, training) && view.fixed().isEmpty();
        if (settings.lending() && noLoans.isEmpty()) {
            new SliceLoans(builder, settings).lend(() -> LoanLimit.besidePlan(builder, policy, settings));
        }
        boolean mayLendLater = settings.lending() && noLoans.isPresent();
        plan.holdsUntil().filter(until -> whole && !mayLendLater).ifPresent(this::rest);
    }

    private boolean hasNoJobs() {
        return builder.clusterIndex().jobs().open().isEmpty();
    }

    private void restWithoutJobs() {
        builder.listener().jobless();
        QuotaPlan.NONE.hold(builder);
        rest(Instant.MAX);
    }

    /** Plans at the next time for plans, if this step has changed facts that plans depend on. */
    void planAfterChange() {
        if (!builder.changesPlans()) {
            return;
        }
        Instant next = builder.changes().changesJobs() ? times.nextAfterJobs(builder.now()) : soon();
        if (builder.nextPlanAt().filter(next::isBefore).isPresent()) {
            builder.nextPlanAt(next);
        }
    }

    private Instant soon() {
        return times.next(builder.now());
    }

    /** Makes no plan before a time, or before a change. */
    private void rest(Instant until) {
        Instant latest = builder.now().plus(LONGEST_REST);
        Instant end = until.isBefore(latest) ? until : latest;
        builder.nextPlanAt(times.next(end.minusMillis(1)));
    }

    /** Jobs that were changed too short a time ago to be changed again by a plan, or whose program could not be run. */
    private Set<JobId> justChanged() {
        Instant since = builder.now().minus(settings.changeLimits().minHold());
        Set<JobId> changed = new HashSet<>();
        for (JobState job : builder.entities().holdingJobs()) {
            if (job.usage().attainedUpTo().isAfter(since) || job.waitsForProgram()) {
                changed.add(job.spec().job());
            }
        }
        return changed;
    }

    /** Until when no plan changes a job, since it was changed a short time ago. */
    static Instant heldUntil(JobState job, SchedulerSettings settings) {
        return job.usage().attainedUpTo().plus(settings.changeLimits().minHold());
    }

    /**
     * Makes the plan the target of its jobs; returns whether all of it is allowed.
     *
     * @param noLoans why nothing may be newly lent; empty when loans are allowed
     * @param training what the policy was shown
     */
    private boolean adopt(Plan plan, Optional<String> noLoans, TrainingView training) {
        Map<GpuId, AbilityRefusal> withheld = training.withheld();
        AbilityPlan possible = AbilityPlan.of(builder, shapes, plan, policy.givesAllAskedFor());
        Map<JobId, AbilityRefusal> refused = new TreeMap<>(training.tooLarge());
        refused.putAll(possible.refusals());
        HostPlan fitting = HostPlan.of(builder, shapes, possible.plan(), policy.givesAllAskedFor());
        QuotaPlan within = QuotaPlan.of(builder, shapes, fitting.plan());
        boolean all = within.refusals().isEmpty()
                && refused.isEmpty()
                && fitting.refusals().isEmpty();
        plan.standings()
                .forEach((job, standing) ->
                        builder.put(builder.jobs().require(job).standing(standing)));
        Adoption adoption = new Adoption(noLoans, refused);
        for (Map.Entry<JobId, List<GpuId>> entry : within.targets().entrySet()) {
            all &= adoption.take(builder.jobs().require(entry.getKey()), entry.getValue());
        }
        keepUnplanned(plan);
        carryOut(within.reasons());
        within.hold(builder);
        abilities.hold(withheld, refused);
        fitting.hold(builder, settings);
        return new JobChanges(builder, settings).adjustHosts() && all;
    }

    /** Makes the targets of a plan those of its jobs, within the limits on loans. */
    private final class Adoption {
        private final Optional<String> noLoans;
        private final Map<JobId, AbilityRefusal> refused;
        private final LoanLimit limit = LoanLimit.ofPlan(builder, policy, settings);
        private final Set<String> opened = new HashSet<>();
        private int loans;

        Adoption(Optional<String> noLoans, Map<JobId, AbilityRefusal> refused) {
            this.noLoans = noLoans;
            this.refused = refused;
        }

        /** Returns whether the target is allowed. */
        boolean take(JobState job, List<GpuId> target) {
            if (job.isOnSlice() && target.isEmpty()) {
                builder.put(job.aiming(job.allocation().gpus()));
                return true;
            }
            Set<GpuId> held = new HashSet<>(job.allocation().gpus());
            List<GpuId> newlyLent = target.stream()
                    .filter(gpu -> !held.contains(gpu) && builder.gpu(gpu).pool() == Pool.INFERENCE)
                    .toList();
            Set<String> openedToo = new HashSet<>(opened);
            int more = bundles.loans(newlyLent, openedToo);
            Optional<String> veto =
                    newlyLent.isEmpty() ? Optional.empty() : vetoOnLoans(job, noLoans, loans + more, limit);
            if (veto.isPresent()) {
                JobId name = job.spec().job();
                builder.listener().vetoed(name, veto.get());
                limit.against(loans + more)
                        .flatMap(rule -> bundles.refusal(newlyLent, rule))
                        .filter(any -> noLoans.isEmpty())
                        .ifPresent(why -> refused.put(name, why));
                builder.put(job.aiming(job.allocation().gpus()));
                return false;
            }
            loans += more;
            opened.addAll(openedToo);
            if (!job.target().equals(target)) {
                builder.put(job.aiming(target));
            }
            return true;
        }
    }

    /** Jobs that a plan does not name keep what they have, and wait for GPUs that were promised to them. */
    private void keepUnplanned(Plan plan) {
        for (JobState job : builder.clusterIndex().jobs().unsettled().values()) {
            JobId name = job.spec().job();
            boolean isPlanned =
                    plan.targets().containsKey(name) || builder.promises().has(name);
            if (!job.isOver() && !isPlanned) {
                builder.put(job.aiming(job.allocation().gpus()));
            }
        }
    }

    /**
     * The cause why a job does not get the inference GPUs of a plan; empty if it does.
     *
     * @param loans GPUs that the plan newly lends up to this job
     */
    private Optional<String> vetoOnLoans(JobState job, Optional<String> noLoans, long loans, LoanLimit limit) {
        return noLoans.map(why -> "no further GPU is lent: " + why)
                .or(() -> limit.against(loans))
                .or(() -> safety.againstLoansTo(job, builder.now())
                        .map(why -> why + "; it gets more loans after its next report"));
    }

    private void hold(ReasonCode code, String text) {
        builder.decide(
                builder.now(),
                builder.because(code, text, Map.of(), Safety.inputs(builder)),
                new Action.Hold(Optional.empty(), Optional.empty()));
    }

    /** Releases the GPUs of ended jobs, and moves the other jobs as far as GPUs are free. */
    void carryOut(Map<JobId, PlanReason> reasons) {
        for (JobState job : builder.clusterIndex().jobs().unsettled().values()) {
            if (job.isOver()) {
                change(job, List.of(), ReasonCode.OVER, MoveReasons.ended(job));
            } else if (safety.againstChanges(builder).isEmpty()) {
                move(job, Optional.ofNullable(reasons.get(job.spec().job())));
            }
        }
    }

    private void move(JobState job, Optional<PlanReason> reason) {
        Set<GpuId> held = new HashSet<>(job.allocation().gpus());
        List<GpuId> gained =
                job.target().stream().filter(gpu -> !held.contains(gpu)).toList();
        List<GpuId> opening = bundles.opening(gained);
        boolean possible = opening.stream().allMatch(gpu -> isFreeOrComing(job, gpu, gained.contains(gpu)))
                && shapes.allows(job, job.target())
                && !isForbiddenLoan(job, gained);
        if (!possible) {
            builder.invalidatePlan();
            builder.put(job.aiming(job.allocation().gpus()));
            return;
        }
        if (waitsForQuota(job, gained)
                || hosts.isFull(job, gained)
                || new TrainingView(builder, settings).exceedsShare(job, job.target())) {
            builder.invalidatePlan();
            return;
        }
        boolean allFree = hosts.hasRoom(job, gained)
                && opening.stream().allMatch(gpu -> builder.gpu(gpu).isFree());
        boolean givesUpFirst = abilities.givesUpFirst(held, job.target())
                || held.stream()
                        .anyMatch(gpu ->
                                !job.target().contains(gpu) && builder.gpu(gpu).pool() == Pool.INFERENCE);
        Supplier<PlanReason> why = () -> new MoveReasons(builder).of(job, reason, gained);
        if (allFree && (!givesUpFirst || gained.isEmpty()) && hasQuota(job, gained)) {
            change(job, job.target(), builder.promises().cause(job), why.get());
            if (builder.promises().has(job.spec().job())) {
                builder.invalidatePlan();
            }
        } else {
            stopSleepers(opening, job);
            if (allFree || !job.isOnSlice()) {
                giveUpFirst(job, why);
            }
        }
    }

    /** Whether GPUs would be lent that must not be, or promised ones while no new loan is allowed. */
    private boolean isForbiddenLoan(JobState job, List<GpuId> gained) {
        if (new LoanGuard(builder, settings).againstAny(gained).isPresent()) {
            return true;
        }
        return builder.promises().has(job.spec().job())
                && gained.stream().anyMatch(gpu -> builder.gpu(gpu).pool() == Pool.INFERENCE)
                && (!settings.lending() || safety.againstLoans(builder).isPresent());
    }

    private boolean hasQuota(JobState job, List<GpuId> gained) {
        return quotas.against(new Tenant.Job(job.spec().job()), gained).isEmpty();
    }

    /** Whether other tenants of the job's queue have to release units before it gains some. */
    private boolean waitsForQuota(JobState job, List<GpuId> gained) {
        List<GpuId> lost = job.allocation().gpus().stream()
                .filter(gpu -> !job.target().contains(gpu))
                .toList();
        return quotas.against(new Tenant.Job(job.spec().job()), gained, lost).isPresent();
    }

    /** The first step of a change in which a job gives up GPUs: it gets the others once these are released. */
    private void giveUpFirst(JobState job, Supplier<PlanReason> why) {
        List<GpuId> target = job.target();
        List<GpuId> held = job.allocation().gpus();
        List<GpuId> kept = target.stream().filter(held::contains).toList();
        if (kept.size() < held.size()) {
            List<GpuId> rest = kept.size() >= job.spec().scaling().least() ? shapes.part(job, kept) : List.of();
            change(job, rest, ReasonCode.PLAN, MoveReasons.first(job, why.get(), held.size() - rest.size()));
            builder.put(builder.jobs().require(job.spec().job()).aiming(target));
        }
    }

    private boolean isFreeOrComing(JobState job, GpuId id, boolean isGained) {
        Optional<GpuState> gpu = builder.gpus().get(id);
        return gpu.isPresent()
                && !builder.promises().keepsFrom(new Tenant.Job(job.spec().job()), id, isGained)
                && builder.isReachable(gpu.get())
                && abilities.isUsable(gpu.get())
                && (gpu.get().isFree()
                        || gpu.get().owner().isSleeping()
                        || gpu.get().owner().isReleasing()
                        || gpu.get().isTraining());
    }

    /** Stops sleeping replicas on GPUs that the plan gives to a job. */
    private void stopSleepers(List<GpuId> gained, JobState job) {
        Map<ServiceId, List<GpuId>> sleeping = new TreeMap<>();
        for (GpuId gpu : gained) {
            Owner owner = builder.gpu(gpu).owner();
            if (owner.isSleeping()) {
                sleeping.computeIfAbsent(owner.replicaOf().orElseThrow(), name -> new ArrayList<>())
                        .add(gpu);
            }
        }
        int held = job.isOnSlice() ? 0 : job.gpus();
        int size = job.target().size();
        String move = job.spec().job() + ", which "
                + (job.isOnSlice()
                        ? Wording.leavesInstance(size)
                        : Wording.gains(held, size, job.usage().largestRun() > 0));
        sleeping.forEach((service, gpus) -> {
            String text = service + " " + Wording.idles(gpus.size()) + move;
            Map<String, Double> numbers = Map.of(
                    "idled", (double) gpus.size(),
                    "gpusBefore", (double) held,
                    "gpusAfter", (double) size);
            new ReplicaChanges(builder, settings)
                    .stop(
                            service,
                            gpus,
                            builder.because(builder.promises().cause(job), text, numbers, Safety.inputs(builder)));
        });
    }

    private void change(JobState job, List<GpuId> gpus, ReasonCode code, PlanReason why) {
        Map<String, Double> numbers = new TreeMap<>(why.numbers());
        numbers.put("gpusBefore", (double) job.gpus());
        numbers.put("gpusAfter", (double) gpus.size());
        numbers.put("changes", (double) job.usage().changes());
        numbers.put("attainedGpuSeconds", job.attainedBy(builder.now()));
        new JobChanges(builder, settings)
                .change(
                        job,
                        gpus,
                        builder.now().plus(settings.notice()),
                        builder.because(code, why.text(), numbers, List.of(job.lastEvent())));
    }
}

package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.decision.HostShare;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.HostNeed;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.KnownGoodput;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ActuatorScopes;
import io.lendstream.core.state.GangGain;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.PausedAt;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/** Turns a job's next GPUs into one decision and its transfers. */
final class JobChanges {
    private final StepBuilder builder;
    private final SchedulerSettings settings;
    private final ShapeGuard shapes;
    private final HostRoom hosts;
    private final Pausing pausing;

    JobChanges(StepBuilder builder, SchedulerSettings settings) {
        this.builder = builder;
        this.settings = settings;
        this.shapes = new ShapeGuard(builder, settings.model().topology());
        this.hosts = new HostRoom(builder);
        this.pausing = new Pausing(builder);
    }

    /**
     * Gives a job exactly these GPUs. GPUs that it gains must be free; GPUs that it loses are released. A job that
     * loses all of them is paused, if it can be. Nothing happens before actuators have said that they took it over: the
     * release of something that they refuse would free a GPU on which a stranger runs.
     *
     * @param by the deadline for the release of lost GPUs
     */
    void change(JobState job, List<GpuId> gpus, Instant by, Reason reason) {
        if (new AdoptionFailure(builder).keeps(job, settings.model().users())) {
            return;
        }
        Set<GpuId> held = new HashSet<>(job.allocation().gpus());
        Set<GpuId> wanted = new HashSet<>(gpus);
        List<GpuId> gained =
                gpus.stream().filter(gpu -> !held.contains(gpu)).sorted().toList();
        List<GpuId> lost =
                held.stream().filter(gpu -> !wanted.contains(gpu)).sorted().toList();
        Instant until = builder.now().plus(settings.lease());
        boolean isEnd = gpus.isEmpty() && !job.isOver();
        Optional<PausedAt> pause = isEnd ? pausing.at(job, by) : Optional.empty();
        Reason why = isEnd ? pausing.becauseOfStop(reason, job, by) : reason;
        Allocation allocation = pause.isPresent() ? Allocation.suspended(Mechanism.PAUSE) : allocation(job, gpus);
        Action action = lend(job.spec().job(), gained, until, allocation)
                .orElseGet(() -> withoutLoan(job.spec().job(), gained, lost, by, allocation));
        Tenant tenant = new Tenant.Job(job.spec().job());
        DecisionId id = builder.nextId();
        Instant bindBy = builder.now().plus(settings.bindDeadline());
        Instant deadline = gained.isEmpty() ? by : bindBy;
        builder.decide(deadline, pause.map(at -> Pausing.because(reason, at)).orElse(why), action);
        for (GpuId gpu : gained) {
            Optional<Instant> lease = isInference(gpu) ? Optional.of(until) : Optional.empty();
            bind(job, gpu, gained.size(), new Owner.Binding(tenant, id, bindBy, lease, 1));
        }
        for (GpuId gpu : lost) {
            if (!holds(job, gpu)) {
                continue;
            }
            builder.own(gpu, new Owner.Releasing(tenant, id, by, by.plus(settings.notice())));
        }
        Instant settledBy = deadline.plus(job.costs().first().multipliedBy(2));
        JobState next = job.allocated(allocation, sliceShare(gpus), id, settledBy, builder.now())
                .awaiting(actuators(gpus, lost, job.paused()))
                .aiming(gpus);
        builder.put(pause.map(next::pausing).orElse(next));
    }

    /** The action that lends GPUs; empty if a job gains none of inference. */
    private Optional<Action> lend(JobId job, List<GpuId> gained, Instant until, Allocation allocation) {
        List<GpuId> lent = gained.stream().filter(this::isInference).toList();
        if (lent.isEmpty()) {
            return Optional.empty();
        }
        builder.loans().begin(builder.now(), new Bundles(builder).loans(lent, new HashSet<>()));
        return Optional.of(new Action.Lend(job, lent, until, allocation));
    }

    private Action withoutLoan(JobId job, List<GpuId> gained, List<GpuId> lost, Instant by, Allocation allocation) {
        if (lost.stream().anyMatch(this::isInference)) {
            return new Action.Reclaim(job, lost, by, allocation);
        }
        List<GpuId> changed = new ArrayList<>(gained);
        changed.addAll(lost);
        return new Action.Resize(job, changed, allocation);
    }

    /**
     * Gives running jobs the CPU and host memory that their owners have declared since, by a resize that names no GPU.
     * A hold says where a node does not have them.
     *
     * @return whether each job has what it needs
     */
    boolean adjustHosts() {
        boolean all = true;
        for (JobState job : builder.entities().holdingJobs()) {
            HostNeed need = job.spec().hostNeed();
            Optional<HostShare> has = job.allocation().host();
            boolean isMet = need.isUsual()
                    || (has.isPresent()
                            && need.cpuMillisPerGpu().orElse(has.get().cpuMillis())
                                    == has.get().cpuMillis()
                            && need.memoryBytesPerGpu().orElse(has.get().memoryBytes())
                                    == has.get().memoryBytes());
            all &= isMet || (job.changing().isEmpty() && adjustHost(job));
        }
        return all;
    }

    private boolean adjustHost(JobState job) {
        List<GpuId> gpus = job.allocation().gpus();
        Optional<HostRefusal> refusal = hosts.against(job, gpus, gpus);
        if (refusal.isPresent()) {
            builder.decide(
                    builder.now(),
                    builder.because(
                            ReasonCode.HOST,
                            "the share of %s stays: %s"
                                    .formatted(job.spec().job(), refusal.get().inWords()),
                            refusal.get().numbers(),
                            List.of(job.lastEvent())),
                    new Action.Hold(Optional.of(job.spec().job()), Optional.empty()));
            return false;
        }
        HostShare share = hosts.share(job, gpus).orElseThrow();
        Allocation allocation = job.allocation().with(share);
        DecisionId id = builder.nextId();
        Instant by = builder.now().plus(settings.bindDeadline());
        builder.decide(
                by,
                builder.because(
                        ReasonCode.HOST,
                        "%s gets %.1f CPUs and %.1f GiB of host memory for each GPU, as its owner declares"
                                .formatted(
                                        job.spec().job(),
                                        share.cpuMillis() / 1000.0,
                                        share.memoryBytes() / (double) (1L << 30)),
                        Map.of("cpuMillis", (double) share.cpuMillis(), "memoryBytes", (double) share.memoryBytes()),
                        List.of(job.lastEvent())),
                new Action.Resize(job.spec().job(), List.of(), allocation));
        builder.put(job.allocated(allocation, sliceShare(gpus), id, by, builder.now())
                .awaiting(actuators(gpus)));
        return true;
    }

    /** Binds a unit to a job. A gang trains with the units of a decision when all of them are bound. */
    private void bind(JobState job, GpuId gpu, int gained, Owner.Binding binding) {
        builder.own(gpu, binding);
        if (job.spec().shape().gang()) {
            builder.put(builder.gpu(gpu).in(GroupPart.ofGang(binding.decision(), gained)));
        }
    }

    /** The actuators that take part in a change of a job that then has some units, and loses none. */
    List<String> actuators(List<GpuId> units) {
        return actuators(units, List.of(), Optional.empty());
    }

    /**
     * The actuators that take part in a change of a job, by name; none if the domain has one actuator, whose first
     * report settles it.
     *
     * @param paused where the job is paused: the actuator there drops what it has of the job
     */
    private List<String> actuators(List<GpuId> after, List<GpuId> lost, Optional<PausedAt> paused) {
        ActuatorScopes scopes = builder.entities().scopes();
        if (scopes.isEmpty()) {
            return List.of();
        }
        Set<String> names = new TreeSet<>();
        paused.flatMap(at -> scopes.only(at.node())).ifPresent(actuator -> names.add(actuator.actuator()));
        for (List<GpuId> units : List.of(after, lost)) {
            for (GpuId unit : units) {
                builder.gpus()
                        .get(unit)
                        .flatMap(known -> scopes.only(known.nodeId()))
                        .ifPresent(actuator -> names.add(actuator.actuator()));
            }
        }
        return scopes.areSeveral() ? List.copyOf(names) : List.of();
    }

    /**
     * Takes GPUs out of jobs that lost them without a decision: by a fault, a failed bind, or an expired lease.
     *
     * @param decides whether the scheduler makes a decision for it; otherwise only the state changes
     */
    void dropLostGpus(boolean decides) {
        for (JobState job : builder.changes().touchedJobs(builder.before().gpus(), builder.jobs())) {
            List<GpuId> lost = job.allocation().gpus().stream()
                    .filter(gpu -> !holds(job, gpu))
                    .toList();
            if (lost.isEmpty()) {
                continue;
            }
            builder.invalidatePlan();
            if (new AdoptionFailure(builder).undoes(job)) {
                continue;
            }
            if (!decides) {
                builder.put(job.without(lost, builder.now()));
                continue;
            }
            List<GpuId> kept = job.allocation().gpus().stream()
                    .filter(gpu -> !lost.contains(gpu))
                    .toList();
            List<GpuId> rest = rest(job, kept);
            List<Long> events = lost.stream()
                    .flatMap(gpu -> builder.gpus().get(gpu).stream())
                    .map(GpuState::changedBy)
                    .toList();
            Reason reason = builder.because(
                    ReasonCode.LOST,
                    "%s lost %s (%s) and %s"
                                    .formatted(
                                            job.spec().job(),
                                            Reason.counted(lost.size(), Returned.unit(job)),
                                            new LossCauses(builder).inWords(lost),
                                            rest.isEmpty()
                                                    ? kept.isEmpty() ? "waits" : "waits: it cannot run on the rest"
                                                    : "goes on with " + Reason.counted(rest.size(), "GPU"))
                            + (undoesGain(job, kept) ? "; a gang gets its GPUs together" : ""),
                    Map.of("lost", (double) lost.size(), "gpusAfter", (double) rest.size()),
                    events);
            change(job, rest, builder.now().plus(settings.notice()), reason);
        }
    }

    /** Whether a gang is about to get some of the GPUs that it has left together with those that it has lost. */
    private boolean undoesGain(JobState job, List<GpuId> left) {
        return job.spec().shape().gang()
                && GangGain.whole(builder.gpus(), job, left).size() < left.size();
    }

    /**
     * The GPUs that a job gives back.
     *
     * @param given GPUs that it gives back
     * @param kept GPUs that it goes on with; 0 if it waits
     * @param unit the unit of both: a GPU or a MIG instance
     * @param why why it gives back more than was asked for; usually empty
     */
    record Returned(JobId job, int given, int kept, String unit, String why) {
        /** The return by a job that goes on with the GPUs {@code kept}. */
        static Returned of(JobState job, List<GpuId> kept) {
            int held = job.allocation().gpus().size();
            return new Returned(job.spec().job(), held - kept.size(), kept.size(), unit(job), "");
        }

        /** The return of all GPUs, as something else chooses those that a job leaves. */
        static Returned whole(JobState job) {
            int held = job.allocation().gpus().size();
            String why = ", as its controller chooses those that it leaves";
            return new Returned(job.spec().job(), held, 0, unit(job), why);
        }

        /** The unit of a job's allocation. */
        static String unit(JobState job) {
            return job.isOnSlice() ? "MIG instance" : "GPU";
        }

        /** For example {@code bert gives 1 GPU back and goes on with 2 GPUs}. */
        String inWords() {
            String back = job + " gives " + Reason.counted(given, unit) + " back and ";
            return back + (kept > 0 ? "goes on with " + Reason.counted(kept, unit) : "waits") + why;
        }

        /** These numbers, with those of a cause. */
        Map<String, Double> numbers(Map<String, Double> cause) {
            Map<String, Double> numbers = new TreeMap<>(cause);
            numbers.put("gpusBefore", (double) given + kept);
            numbers.put("gpusAfter", (double) kept);
            return numbers;
        }
    }

    /**
     * Reclaims lent GPUs with their bundles, job by job. A job left with too few is suspended, and one whose controller
     * may give GPUs of training back in place of loans.
     */
    void takeBack(List<GpuId> victims, Function<Returned, Reason> reason) {
        Map<JobId, List<GpuId>> byJob = new TreeMap<>();
        BundleReclaim bundles = new BundleReclaim(builder);
        AbilityGuard abilities = new AbilityGuard(builder);
        for (GpuId gpu : bundles.whole(victims)) {
            bundles.borrower(builder.gpu(gpu))
                    .ifPresent(borrower -> byJob.computeIfAbsent(borrower, job -> new ArrayList<>())
                            .add(gpu));
        }
        byJob.forEach((name, gpus) -> {
            builder.invalidatePlan();
            JobState job = builder.jobs().require(name);
            List<GpuId> rest = job.allocation().gpus().stream()
                    .filter(gpu -> !gpus.contains(gpu))
                    .toList();
            boolean isWhole =
                    !rest.isEmpty() && abilities.leavesAny(job.allocation().gpus(), gpus);
            List<GpuId> kept = isWhole ? List.of() : rest(job, rest);
            Returned returned = isWhole ? Returned.whole(job) : Returned.of(job, kept);
            change(job, kept, builder.now().plus(settings.notice()), reason.apply(returned));
        });
    }

    /** What a job that loses GPUs goes on with of the others: as many as its shape allows, or none. */
    List<GpuId> rest(JobState job, List<GpuId> left) {
        return goesOnWith(job, left.size()) ? shapes.part(job, left) : List.of();
    }

    /** Whether a job that loses GPUs can go on with the others. A rigid job has all its GPUs or none. */
    static boolean goesOnWith(JobState job, int gpus) {
        return job.spec().scaling().elastic() && gpus >= job.spec().scaling().minGpus();
    }

    private boolean holds(JobState job, GpuId gpu) {
        return builder.gpus()
                .get(gpu)
                .filter(state -> !state.owner().isReleasing()
                        && state.isHeldBy(new Tenant.Job(job.spec().job())))
                .isPresent();
    }

    private boolean isInference(GpuId gpu) {
        return builder.gpus()
                .get(gpu)
                .map(GpuState::pool)
                .filter(Pool.INFERENCE::equals)
                .isPresent();
    }

    /** The share of a GPU that a job has; empty unless it is a MIG instance. */
    Optional<Double> sliceShare(List<GpuId> gpus) {
        return gpus.stream()
                .flatMap(gpu -> builder.gpu(gpu).instance().stream())
                .map(MigInstance::share)
                .findFirst();
    }

    /** What a job trains with on some GPUs. */
    Allocation allocation(JobState job, List<GpuId> gpus) {
        Set<KindId> kinds = kinds(gpus);
        boolean inPlace = settings.afe() && job.spec().scaling().elastic() && staysOnKind(job, kinds);
        Mechanism usual = inPlace ? Mechanism.AFE : Mechanism.RESTART;
        if (gpus.isEmpty()) {
            return Allocation.suspended(usual);
        }
        Mechanism mechanism = pausing.resumesOn(job, gpus) ? Mechanism.PAUSE : usual;
        int nodes = (int)
                gpus.stream().map(builder::gpu).map(GpuState::nodeId).distinct().count();
        Optional<KindId> kind = kinds.stream().findFirst();
        KnownGoodput known = job.goodput().on(kind).known();
        GoodputModel.Best best = known.best(nodes, gpus.size());
        double rate = known.model().gain(best.batch().total(gpus.size()));
        return new Allocation(
                gpus, best.batch().local(), best.batch().accumulation(), rate, mechanism, hosts.share(job, gpus));
    }

    /** The kinds of GPUs, as far as they are known. */
    private Set<KindId> kinds(List<GpuId> gpus) {
        Set<KindId> kinds = new TreeSet<>();
        gpus.forEach(gpu -> builder.gpus().get(gpu).flatMap(GpuState::kind).ifPresent(kinds::add));
        return kinds;
    }

    /** Whether a job goes on with GPUs of the kind that it has. A job that changes its kind starts again. */
    private boolean staysOnKind(JobState job, Set<KindId> next) {
        Set<KindId> before = kinds(job.allocation().gpus());
        return before.isEmpty() || before.containsAll(next);
    }
}

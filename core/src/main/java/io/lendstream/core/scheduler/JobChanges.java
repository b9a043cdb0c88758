package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.KnownGoodput;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ActuatorScopes;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
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

    JobChanges(StepBuilder builder, SchedulerSettings settings) {
        this.builder = builder;
        this.settings = settings;
        this.shapes = new ShapeGuard(builder, settings.model().topology());
    }

    /**
     * Gives a job exactly these GPUs. GPUs that it gains must be free; GPUs that it loses are released.
     *
     * @param by the deadline for the release of lost GPUs
     */
    void change(JobState job, List<GpuId> gpus, Instant by, Reason reason) {
        Set<GpuId> held = new HashSet<>(job.allocation().gpus());
        Set<GpuId> wanted = new HashSet<>(gpus);
        List<GpuId> gained =
                gpus.stream().filter(gpu -> !held.contains(gpu)).sorted().toList();
        List<GpuId> lost =
                held.stream().filter(gpu -> !wanted.contains(gpu)).sorted().toList();
        List<GpuId> lent = gained.stream().filter(this::isInference).toList();
        Instant until = builder.now().plus(settings.lease());
        Allocation allocation = allocation(job, gpus);
        Action action;
        if (!lent.isEmpty()) {
            action = lend(job, lent, until, allocation);
        } else if (lost.stream().anyMatch(this::isInference)) {
            action = new Action.Reclaim(job.spec().job(), lost, by, allocation);
        } else {
            List<GpuId> changed = java.util.stream.Stream.concat(gained.stream(), lost.stream())
                    .toList();
            action = new Action.Resize(job.spec().job(), changed, allocation);
        }
        Tenant tenant = new Tenant.Job(job.spec().job());
        DecisionId id = builder.nextId();
        Instant bindBy = builder.now().plus(settings.bindDeadline());
        Instant deadline = gained.isEmpty() ? by : bindBy;
        builder.decide(deadline, reason, action);
        for (GpuId gpu : gained) {
            Optional<Instant> lease = isInference(gpu) ? Optional.of(until) : Optional.empty();
            builder.own(gpu, new Owner.Binding(tenant, id, bindBy, lease, 1));
        }
        for (GpuId gpu : lost) {
            if (!holds(job, gpu)) {
                continue;
            }
            builder.own(gpu, new Owner.Releasing(tenant, id, by, by.plus(settings.notice())));
        }
        Instant settledBy = deadline.plus(job.costs().first().multipliedBy(2));
        builder.put(job.allocated(allocation, sliceShare(gpus), id, settledBy, builder.now())
                .awaiting(actuators(gpus, lost))
                .aiming(gpus));
    }

    /** Lends a job more GPUs, which count as new loans from now on. */
    private Action lend(JobState job, List<GpuId> lent, Instant until, Allocation allocation) {
        builder.loans().begin(builder.now(), new Bundles(builder).loans(lent, new HashSet<>()));
        return new Action.Lend(job.spec().job(), lent, until, allocation);
    }

    /** The actuators that take part in a change of a job, by name; none if the first report settles it. */
    private List<String> actuators(List<GpuId> after, List<GpuId> lost) {
        ActuatorScopes scopes = builder.entities().scopes();
        if (scopes.isEmpty()) {
            return List.of();
        }
        Set<String> names = new TreeSet<>();
        for (List<GpuId> units : List.of(after, lost)) {
            for (GpuId unit : units) {
                builder.gpus()
                        .get(unit)
                        .flatMap(known -> scopes.only(known.nodeId()))
                        .ifPresent(actuator -> names.add(actuator.actuator()));
            }
        }
        return names.size() > 1 ? List.copyOf(names) : List.of();
    }

    /**
     * Takes GPUs out of jobs that lost them without a decision: by a fault, a failed bind, or an expired lease.
     *
     * @param decides whether the scheduler makes a decision for it; otherwise only the state changes
     */
    void dropLostGpus(boolean decides) {
        for (JobState job : builder.touchedJobs()) {
            List<GpuId> lost = job.allocation().gpus().stream()
                    .filter(gpu -> !holds(job, gpu))
                    .toList();
            if (lost.isEmpty()) {
                continue;
            }
            builder.invalidatePlan();
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
                                    causes(lost),
                                    rest.isEmpty()
                                            ? kept.isEmpty() ? "waits" : "waits: it cannot run on the rest"
                                            : "goes on with " + Reason.counted(rest.size(), "GPU")),
                    Map.of("lost", (double) lost.size(), "gpusAfter", (double) rest.size()),
                    events);
            change(job, rest, builder.now().plus(settings.notice()), reason);
        }
    }

    /** The lost GPUs by cause, as far as it is known, such as {@code node-1/0, node-1/1: its node left}. */
    private String causes(List<GpuId> lost) {
        Map<String, List<String>> byCause = new LinkedHashMap<>();
        for (GpuId gpu : lost) {
            String cause = builder.gpus()
                    .get(gpu)
                    .flatMap(unit -> unit.owner().asQuarantined())
                    .map(out -> ": " + out.reason())
                    .orElse("");
            byCause.computeIfAbsent(cause, any -> new ArrayList<>()).add(gpu.value());
        }
        List<String> groups = new ArrayList<>();
        byCause.forEach((cause, gpus) -> groups.add(String.join(", ", gpus) + cause));
        return String.join("; ", groups);
    }

    /**
     * The GPUs that a job gives back.
     *
     * @param given GPUs that it gives back
     * @param kept GPUs that it goes on with; 0 if it waits
     * @param unit the unit of both: a GPU or a MIG instance
     */
    record Returned(JobId job, int given, int kept, String unit) {
        /** The return by a job that goes on with the GPUs {@code kept}. */
        static Returned of(JobState job, List<GpuId> kept) {
            int held = job.allocation().gpus().size();
            return new Returned(job.spec().job(), held - kept.size(), kept.size(), unit(job));
        }

        /** The unit of a job's allocation. */
        static String unit(JobState job) {
            return job.isOnSlice() ? "MIG instance" : "GPU";
        }

        /** For example {@code bert gives 1 GPU back and goes on with 2 GPUs}. */
        String inWords() {
            String back = job + " gives " + Reason.counted(given, unit) + " back and ";
            return back + (kept > 0 ? "goes on with " + Reason.counted(kept, unit) : "waits");
        }

        /** These numbers, with those of a cause. */
        Map<String, Double> numbers(Map<String, Double> cause) {
            Map<String, Double> numbers = new TreeMap<>(cause);
            numbers.put("gpusBefore", (double) given + kept);
            numbers.put("gpusAfter", (double) kept);
            return numbers;
        }
    }

    /** Reclaims lent GPUs with their bundles, job by job; a job left with too few is suspended. */
    void takeBack(List<GpuId> victims, Function<Returned, Reason> reason) {
        Map<JobId, List<GpuId>> byJob = new TreeMap<>();
        BundleReclaim bundles = new BundleReclaim(builder);
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
            List<GpuId> kept = rest(job, rest);
            Returned returned = Returned.of(job, kept);
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
                .filter(state -> state.pool() == Pool.INFERENCE)
                .isPresent();
    }

    private Optional<Double> sliceShare(List<GpuId> gpus) {
        return gpus.stream()
                .flatMap(gpu -> builder.gpu(gpu).instance().stream())
                .map(MigInstance::share)
                .findFirst();
    }

    private Allocation allocation(JobState job, List<GpuId> gpus) {
        Set<KindId> kinds = kinds(gpus);
        boolean inPlace = settings.afe() && job.spec().scaling().elastic() && staysOnKind(job, kinds);
        Mechanism mechanism = inPlace ? Mechanism.AFE : Mechanism.RESTART;
        if (gpus.isEmpty()) {
            return Allocation.suspended(mechanism);
        }
        int nodes = (int)
                gpus.stream().map(builder::gpu).map(GpuState::nodeId).distinct().count();
        Optional<KindId> kind = kinds.stream().findFirst();
        KnownGoodput known = job.goodput().on(kind).known();
        GoodputModel.Best best = known.best(nodes, gpus.size());
        double rate = known.model().gain(best.batch().total(gpus.size()));
        return new Allocation(gpus, best.batch().local(), best.batch().accumulation(), rate, mechanism);
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

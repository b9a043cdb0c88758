package io.lendstream.core.scheduler;

import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Lends free MIG instances of inference to jobs that a plan leaves without a GPU. Each job gets one, the smallest that
 * fits, in queue order. A job on an instance still waits for GPUs of the plan.
 */
final class SliceLoans {
    private static final double ROUNDING = 1e-9;

    private final StepBuilder builder;
    private final SchedulerSettings settings;
    private final QuotaGuard quotas;
    private final Set<InstanceOfQueue> refused = new HashSet<>();

    /** Instances that count alike in the quotas of a queue. */
    private record InstanceOfQueue(QueueId queue, Optional<KindId> kind, String profile) {}

    SliceLoans(StepBuilder builder, SchedulerSettings settings) {
        this.builder = builder;
        this.settings = settings;
        this.quotas = new QuotaGuard(builder);
    }

    /** @param limits the limit on loans, asked for if an instance is free */
    void lend(Supplier<LoanLimit> limits) {
        AbilityGuard guard = new AbilityGuard(builder);
        List<GpuState> free = new ArrayList<>(builder.clusterIndex().gpus().freeSlices().stream()
                .filter(SliceLoans::isLendable)
                .filter(builder::isReachable)
                .filter(unit -> !builder.awaited().contains(unit.gpuId()))
                .filter(unit -> isPossible(guard, unit))
                .sorted(Comparator.comparingLong(
                                (GpuState unit) -> instance(unit).memoryBytes())
                        .thenComparing(GpuState::gpuId))
                .toList());
        explainAwaited();
        if (free.isEmpty()) {
            return;
        }
        LoanLimit limit = limits.get();
        double room = room();
        long loans = 0;
        for (JobState job : builder.entities().openJobs()) {
            if (free.isEmpty() || loans >= limit.most()) {
                break;
            }
            double left = room;
            Optional<GpuState> unit = isWaiting(job)
                    ? free.stream()
                            .filter(each -> fits(job, each) && instance(each).share() <= left + ROUNDING)
                            .filter(each -> !isRefused(job, each) && hasHost(job, each))
                            .findFirst()
                    : Optional.empty();
            if (unit.isPresent()) {
                lend(job, unit.get());
                free.remove(unit.get());
                room -= instance(unit.get()).share();
                loans++;
            }
        }
        if (builder.listener() != StepListener.NONE) {
            explain(free, limit.against(loans + 1), room);
        }
    }

    private boolean isPossible(AbilityGuard guard, GpuState unit) {
        Optional<String> refusal = guard.againstSlice(unit)
                .map(AbilityRefusal::text)
                .or(() -> new LoanGuard(builder, settings).against(unit));
        refusal.ifPresent(why -> builder.listener().unlent(unit.gpuId(), why));
        return refusal.isEmpty();
    }

    private static boolean isLendable(GpuState unit) {
        return unit.pool() == Pool.INFERENCE && !unit.isWhole() && unit.isFree();
    }

    private void explainAwaited() {
        if (builder.listener() == StepListener.NONE) {
            return;
        }
        for (GpuId awaited : builder.awaited()) {
            builder.gpus()
                    .get(awaited)
                    .filter(SliceLoans::isLendable)
                    .ifPresent(unit -> builder.listener()
                            .unlent(unit.gpuId(), "the plan of MIG instances gives its memory to a service next"));
        }
    }

    /**
     * Reports to the listener why free instances are not lent.
     *
     * @param full the cause why no further loan may begin; empty if one may
     * @param room inference GPUs that may still be lent
     */
    private void explain(List<GpuState> free, Optional<String> full, double room) {
        List<JobState> waiting = new ArrayList<>();
        for (JobState job : builder.entities().openJobs()) {
            if (isWaiting(job)) {
                waiting.add(job);
            }
        }
        for (GpuState unit : free) {
            builder.listener().unlent(unit.gpuId(), why(unit, waiting, full, room));
        }
    }

    private String why(GpuState unit, List<JobState> waiting, Optional<String> full, double room) {
        MigInstance instance = instance(unit);
        if (waiting.isEmpty()) {
            return "no waiting job runs on one MIG instance and declares the memory that it needs";
        }
        Optional<JobState> fitting =
                waiting.stream().filter(job -> fits(job, unit)).findFirst();
        if (fitting.isEmpty() && unit.kind().isPresent() && waiting.stream().noneMatch(job -> isAllowed(job, unit))) {
            return "it is of kind %s, which no waiting job may use"
                    .formatted(unit.kind().orElseThrow());
        }
        if (fitting.isEmpty()) {
            double least = waiting.stream()
                    .mapToLong(job -> job.spec().sliceMemoryBytes().orElseThrow())
                    .min()
                    .orElseThrow();
            return "it has %.1f GiB, and every waiting job needs at least %.1f GiB"
                    .formatted(gib(instance.memoryBytes()), least / (1L << 30));
        }
        Optional<QuotaRefusal> refusal = refusal(fitting.get(), unit);
        if (refusal.isPresent()) {
            return "%s is not lent it: %s"
                    .formatted(fitting.get().spec().job(), refusal.get().inWords());
        }
        List<GpuId> units = List.of(unit.gpuId());
        Optional<HostRefusal> tooSmall = new HostRoom(builder).against(fitting.get(), units, units);
        if (tooSmall.isPresent()) {
            return tooSmall.get().inWords();
        }
        TrustGuard trust = new TrustGuard(builder, settings);
        return full.orElseGet(() -> "%s: %.2f inference GPUs may still be lent, and this instance is %.2f of a GPU; %s"
                .formatted(trust.shareRule(), Math.max(0, room), instance.share(), trust.shareRemedy()));
    }

    /** Whether a quota refuses an instance. It stays refused in this plan, as loans only add to the use of quotas. */
    private boolean isRefused(JobState job, GpuState unit) {
        Optional<QueueId> queue = quotas.queueOf(new Tenant.Job(job.spec().job()));
        if (queue.isEmpty()) {
            return false;
        }
        InstanceOfQueue asked =
                new InstanceOfQueue(queue.get(), unit.kind(), instance(unit).profile());
        if (!refused.contains(asked) && refusal(job, unit).isPresent()) {
            refused.add(asked);
        }
        return refused.contains(asked);
    }

    /** Whether the node of an instance has the CPU and host memory that a job needs. */
    private boolean hasHost(JobState job, GpuState unit) {
        List<GpuId> units = List.of(unit.gpuId());
        return new HostRoom(builder).against(job, units, units).isEmpty();
    }

    private Optional<QuotaRefusal> refusal(JobState job, GpuState unit) {
        return quotas.against(new Tenant.Job(job.spec().job()), List.of(unit.gpuId()));
    }

    private static MigInstance instance(GpuState unit) {
        return unit.instance().orElseThrow();
    }

    private static boolean isWaiting(JobState job) {
        return job.spec().sliceMemoryBytes().isPresent()
                && job.spec().startsOnOne()
                && job.gpus() == 0
                && job.target().isEmpty()
                && job.changing().isEmpty();
    }

    private static boolean fits(JobState job, GpuState unit) {
        return instance(unit).memoryBytes() >= job.spec().sliceMemoryBytes().orElseThrow() && isAllowed(job, unit);
    }

    private static boolean isAllowed(JobState job, GpuState unit) {
        return unit.kind().filter(job.spec()::excludes).isEmpty();
    }

    /** The inference GPUs that may still be lent under the greatest share. */
    private double room() {
        double all = 0;
        double lent = 0;
        for (GpuState unit : new UnitsByNode(builder).usable()) {
            double share = unit.instance().map(MigInstance::share).orElse(1.0);
            if (unit.pool() == Pool.INFERENCE) {
                all += share;
                lent += isLent(unit.owner()) ? share : 0;
            }
        }
        return new TrustGuard(builder, settings).share() * all - lent;
    }

    private static boolean isLent(Owner owner) {
        return owner.isHeldByJob() && !owner.isReleasing();
    }

    private void lend(JobState job, GpuState unit) {
        MigInstance instance = instance(unit);
        long asked = job.spec().sliceMemoryBytes().orElseThrow();
        String text =
                "%s starts on the MIG instance %s (%.1f GiB): no GPU is planned for it, it needs %.1f GiB, and this is the smallest free instance that fits"
                        .formatted(job.spec().job(), instance, gib(instance.memoryBytes()), gib(asked));
        Map<String, Double> numbers = Map.of(
                "sliceMemoryBytes", (double) asked,
                "memoryBytes", (double) instance.memoryBytes(),
                "share", instance.share());
        new JobChanges(builder, settings)
                .change(
                        job,
                        List.of(unit.gpuId()),
                        builder.now().plus(settings.notice()),
                        builder.because(ReasonCode.SLICE, text, numbers, List.of(job.lastEvent())));
    }

    private static double gib(long bytes) {
        return (double) bytes / (1L << 30);
    }
}

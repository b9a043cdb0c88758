package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.LimitExcess;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.QuotaUse;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Takes back what queues have above their limits since a declaration, also if no tenant asks for it: sleeping replicas
 * first, then GPUs of jobs in the order of {@link QuotaVictims}, then other replicas above their floor. A queue that
 * has more than its nominal quota, but not more than its limit, keeps it.
 */
final class LimitReturns {
    private static final double ROUNDING = 1e-6;

    private final StepBuilder builder;
    private final SchedulerSettings settings;
    private final AbilityGuard abilities;

    LimitReturns(StepBuilder builder, SchedulerSettings settings) {
        this.builder = builder;
        this.settings = settings;
        this.abilities = new AbilityGuard(builder);
    }

    void run() {
        List<QueueState> marked = new ArrayList<>();
        for (QueueState queue : builder.entities().queues().values()) {
            if (queue.overSince().isPresent()) {
                marked.add(queue);
            }
        }
        if (marked.isEmpty()) {
            return;
        }
        // What one queue gives back, others may keep: the one with the largest share of borrowed GPUs comes first.
        marked.sort(Comparator.comparingDouble(
                queue -> -builder.ledger().weightedShare(queue.spec().queue())));
        for (QueueState queue : marked) {
            for (QuotaUse use : LimitExcess.of(builder.entities(), queue.spec().queue())) {
                takeBack(queue.spec(), use);
            }
        }
        for (QueueState queue : marked) {
            if (LimitExcess.of(builder.entities(), queue.spec().queue()).isEmpty()) {
                builder.put(builder.entities()
                        .queues()
                        .require(queue.spec().queue())
                        .over(Optional.empty()));
            }
        }
    }

    private void takeBack(ClusterQueue queue, QuotaUse first) {
        ReplicaReturns replicas = new ReplicaReturns(builder, settings, queue);
        replicas.stop(first, ReplicaReturns.Stage.SLEEPING);
        left(first).ifPresent(use -> jobs(queue, use));
        left(first).ifPresent(use -> slices(queue, use));
        left(first).ifPresent(use -> replicas.stop(use, ReplicaReturns.Stage.PROTECTED));
        left(first).ifPresent(use -> replicas.stop(use, ReplicaReturns.Stage.SERVING));
    }

    /** What is still above a limit. */
    private Optional<QuotaUse> left(QuotaUse first) {
        for (QuotaUse use : LimitExcess.of(builder.entities(), first.queue())) {
            if (use.kind().equals(first.kind())) {
                return Optional.of(use);
            }
        }
        return Optional.empty();
    }

    /** Whole GPUs of jobs; so many fewer as MIG instances of other jobs make up for a part of a GPU. */
    private void jobs(ClusterQueue queue, QuotaUse use) {
        double ofSlices = 0;
        for (JobState job : onSlices(queue, use)) {
            ofSlices += gpus(job);
        }
        int gpus = (int) Math.ceil(use.over() - ofSlices - ROUNDING);
        if (gpus <= 0) {
            return;
        }
        QuotaVictims victims = new QuotaVictims(
                builder,
                settings,
                builder.ledger(),
                new QuotaVictims.Wanted(
                        Integer.MAX_VALUE,
                        queue.preempting(Preemption.LOWER_PRIORITY, Preemption.NEVER),
                        use.kind(),
                        unit -> LimitExcess.counts(queue, use, unit.kind())));
        victims.take(true, gpus);
        for (QuotaVictims.Loss loss : victims.losses()) {
            change(loss.job(), left(queue, use, loss), use);
        }
    }

    /** The GPUs that a job goes on with: loans are given back first. */
    private List<GpuId> left(ClusterQueue queue, QuotaUse use, QuotaVictims.Loss loss) {
        if (loss.left().isEmpty()) {
            return List.of();
        }
        List<GpuId> left = new ArrayList<>(loss.job().allocation().gpus());
        List<GpuId> given = new ArrayList<>();
        for (GpuId id : left) {
            GpuState unit = builder.gpu(id);
            if (builder.isReachable(unit) && LimitExcess.counts(queue, use, unit.kind())) {
                given.add(id);
            }
        }
        given.sort(Comparator.comparing(id -> builder.gpu(id).pool() == Pool.INFERENCE));
        given = given.subList(given.size() - loss.given().size(), given.size());
        boolean isWhole = abilities.leavesAny(left, given);
        left.removeAll(given);
        return isWhole ? List.of() : left;
    }

    /** MIG instances of jobs, those of the lowest priority first, then those that started last. */
    private void slices(ClusterQueue queue, QuotaUse use) {
        double over = use.over();
        for (JobState job : onSlices(queue, use)) {
            if (over > ROUNDING) {
                over -= gpus(job);
                change(job, List.of(), use);
            }
        }
    }

    private List<JobState> onSlices(ClusterQueue queue, QuotaUse use) {
        List<JobState> jobs = new ArrayList<>();
        for (JobState job : builder.entities().holdingJobs()) {
            boolean isTheirs = job.isOnSlice()
                    && builder.entities()
                            .queueOf(new Tenant.Job(job.spec().job()))
                            .filter(queue::equals)
                            .isPresent();
            if (isTheirs && isTakeable(queue, use, job)) {
                jobs.add(job);
            }
        }
        jobs.sort(Comparator.comparingInt((JobState job) -> builder.entities().priorityOf(job))
                .thenComparing(job -> job.usage().startedAt().orElse(Instant.MIN), Comparator.reverseOrder())
                .thenComparing(job -> job.spec().job()));
        return jobs;
    }

    /** What the MIG instance of a job counts. */
    private double gpus(JobState job) {
        double gpus = 0;
        for (GpuId id : job.allocation().gpus()) {
            gpus += QueueLedger.gpus(builder.entities(), builder.gpu(id));
        }
        return gpus;
    }

    private boolean isTakeable(ClusterQueue queue, QuotaUse use, JobState job) {
        for (GpuId id : job.allocation().gpus()) {
            GpuState unit = builder.gpu(id);
            if (!builder.isReachable(unit) || !LimitExcess.counts(queue, use, unit.kind())) {
                return false;
            }
        }
        return true;
    }

    private void change(JobState job, List<GpuId> left, QuotaUse use) {
        JobChanges.Returned returned = JobChanges.Returned.of(job, left);
        Reason reason = builder.because(
                ReasonCode.QUOTA,
                "%s: %s".formatted(returned.inWords(), cause(builder, use)),
                returned.numbers(numbers(use)),
                List.of(job.lastEvent()));
        new JobChanges(builder, settings).change(job, left, builder.now().plus(settings.notice()), reason);
        builder.invalidatePlan();
    }

    /** Why a queue gives something back. */
    static String cause(StepBuilder builder, QuotaUse use) {
        boolean hasQuota = builder.entities()
                .queues()
                .require(use.queue())
                .spec()
                .quota(use.kind())
                .isPresent();
        return hasQuota
                ? "queue %s uses %s, because its limit was lowered".formatted(use.queue(), use.inWords())
                : "queue %s uses %s GPUs%s, for which it has no quota any more"
                        .formatted(
                                use.queue(),
                                QuotaUse.text(use.used()),
                                use.kind().map(kind -> " of " + kind).orElse(""));
    }

    static Map<String, Double> numbers(QuotaUse use) {
        return Map.of("nominal", use.nominal(), "used", use.used(), "limit", use.limit(), "over", use.over());
    }
}

package io.lendstream.core.scheduler;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QuotaUse;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Selects the jobs that give GPUs to a waiting tenant: those of the lowest priority first, then elastic ones,
 * then those that started last, then those whose loss costs least. Elastic jobs first shrink to their fewest GPUs. A
 * job that cannot shrink is stopped whole, if its queue has more than its nominal quota.
 */
final class QuotaVictims {
    private static final double ROUNDING = 1e-6;

    private final StepBuilder builder;
    private final SchedulerSettings settings;
    private final QueueLedger kept;
    private final Wanted wanted;
    private final Supplier<List<Held>> held;
    private final Map<JobId, Integer> given = new LinkedHashMap<>();
    private final Map<JobId, Candidate> chosen = new HashMap<>();
    /** GPUs that each queue has beyond its nominal quota without those given. */
    private final Map<QueueId, Double> excess = new HashMap<>();

    /**
     * The wish of a waiting tenant.
     *
     * @param priority its priority; jobs of its own queue give by that
     * @param queue its queue
     * @param kind the kind of GPU whose quota counts
     * @param units the GPUs that help it
     */
    record Wanted(int priority, ClusterQueue queue, Optional<KindId> kind, Predicate<GpuState> units) {
        /** The wish of a job, which may get GPUs of a kind; those of inference only if it may be lent them. */
        static Wanted by(
                StepBuilder builder, JobState job, ClusterQueue queue, Optional<KindId> kind, boolean mayBeLent) {
            return new Wanted(
                    builder.entities().priorityOf(job),
                    queue,
                    kind,
                    unit -> unit.kind().equals(kind) && (unit.pool() == Pool.TRAINING || mayBeLent));
        }
    }

    /** GPUs of a job that may be asked for: all, or those on some nodes. */
    record Held(JobState job, List<GpuId> gpus) {}

    /** GPUs that a job gives, and those that it goes on with. */
    record Loss(JobState job, List<GpuId> given, List<GpuId> left) {}

    /** @param units the GPUs of a job that help the waiting tenant */
    private record Candidate(JobState job, QueueId queue, List<GpuId> units, int priority, boolean isOwn) {
        /** A job with a shape is stopped whole: a part of its GPUs may be no size of it. So is a gang. */
        boolean isElastic() {
            return job.spec().scaling().elastic() && mayShrink(job);
        }

        /** What a stop costs, in GPU-milliseconds. */
        double loss() {
            Duration pause = job.costs().first();
            return (double) pause.toMillis() * job.gpus();
        }
    }

    /** Selects among all jobs. */
    QuotaVictims(StepBuilder builder, SchedulerSettings settings, QueueLedger kept, Wanted wanted) {
        this(builder, settings, kept, wanted, () -> all(builder));
    }

    /** Selects among some jobs and GPUs of theirs. */
    QuotaVictims(
            StepBuilder builder,
            SchedulerSettings settings,
            QueueLedger kept,
            Wanted wanted,
            Supplier<List<Held>> held) {
        this.builder = builder;
        this.settings = settings;
        this.kept = kept;
        this.wanted = wanted;
        this.held = held;
    }

    /** All jobs that have GPUs, with all of these. */
    static List<Held> all(StepBuilder builder) {
        List<Held> all = new ArrayList<>();
        for (JobState job : builder.entities().holdingJobs()) {
            all.add(new Held(job, job.allocation().gpus()));
        }
        return all;
    }

    /**
     * Chooses jobs that give so many GPUs more; returns how many these give, which may be too few, or more because some
     * cannot give a part.
     *
     * @param own whether jobs of the waiting job's queue give, instead of those of other queues
     */
    int take(boolean own, int gpus) {
        Map<JobId, Integer> now = new LinkedHashMap<>();
        List<Candidate> candidates = candidates(own);
        int left = gpus;
        for (Candidate candidate : candidates) {
            if (left > 0) {
                left -= candidate.isElastic() ? shrink(candidate, left, now) : stop(candidate, now);
            }
        }
        for (Candidate candidate : candidates) {
            if (left > 0) {
                left -= stop(candidate, now);
            }
        }
        return gpus - left - giveBack(Math.max(0, -left), now);
    }

    private List<Candidate> candidates(boolean own) {
        List<Candidate> candidates = new ArrayList<>();
        for (Held some : held.get()) {
            JobState job = some.job();
            Optional<ClusterQueue> queue =
                    builder.entities().queueOf(new Tenant.Job(job.spec().job()));
            if (queue.isEmpty()
                    || job.isOnSlice()
                    || !mayGive(job, queue.get(), own)
                    || new AdoptionFailure(builder).keeps(job, settings.model().users())) {
                continue;
            }
            List<GpuId> units = some.gpus().stream().filter(this::isUsable).toList();
            if (!units.isEmpty()) {
                candidates.add(new Candidate(
                        job, queue.get().queue(), units, builder.entities().priorityOf(job), own));
            }
        }
        candidates.sort(Comparator.comparingInt(Candidate::priority)
                .thenComparing(candidate -> !candidate.isElastic())
                .thenComparing(
                        candidate -> candidate.job().usage().startedAt().orElse(Instant.MIN), Comparator.reverseOrder())
                .thenComparingDouble(Candidate::loss)
                .thenComparing(candidate -> candidate.job().spec().job()));
        return candidates;
    }

    private boolean mayGive(JobState job, ClusterQueue queue, boolean own) {
        int priority = wanted.priority();
        boolean isOwn = queue.queue().equals(wanted.queue().queue());
        int theirs = builder.entities().priorityOf(job);
        if (own || isOwn) {
            return own && isOwn && wanted.queue().within().takes(theirs, priority);
        }
        return queue.cohort().isPresent()
                && queue.cohort().equals(wanted.queue().cohort())
                && wanted.queue().inCohort().takes(theirs, priority)
                && excess(queue.queue()) > 0;
    }

    /** GPUs that a queue has beyond its nominal quota, in the same kind of quota as that of the waiting job. */
    private double excess(QueueId queue) {
        return excess.computeIfAbsent(queue, any -> {
            Optional<QuotaUse> asked = kept.use(wanted.queue().queue(), wanted.kind());
            return kept.use(queue, wanted.kind())
                    .filter(use ->
                            asked.filter(own -> own.kind().equals(use.kind())).isPresent())
                    .map(QuotaUse::excess)
                    .orElse(0.0);
        });
    }

    private boolean isUsable(GpuId id) {
        Optional<GpuState> unit = builder.gpus().get(id);
        return unit.isPresent()
                && unit.get().isWhole()
                && builder.isReachable(unit.get())
                && wanted.units().test(unit.get());
    }

    private static boolean mayShrink(JobState job) {
        return job.spec().shape().isAny() && !job.spec().shape().gang();
    }

    /** Shrinks an elastic job, but its queue not below its nominal quota. */
    private int shrink(Candidate candidate, int most, Map<JobId, Integer> now) {
        int spare = candidate.job().gpus() - candidate.job().spec().scaling().minGpus() - given(candidate);
        int gpus = Math.min(most, Math.min(spare, candidate.units().size() - given(candidate)));
        if (!candidate.isOwn()) {
            gpus = Math.min(gpus, (int) Math.floor(excess(candidate.queue()) + ROUNDING));
        }
        give(candidate, Math.max(0, gpus), now);
        return Math.max(0, gpus);
    }

    /** Stops a job, if its queue has more than its nominal quota. */
    private int stop(Candidate candidate, Map<JobId, Integer> now) {
        int gpus = candidate.units().size() - given(candidate);
        if (gpus <= 0 || (!candidate.isOwn() && excess(candidate.queue()) <= ROUNDING)) {
            return 0;
        }
        give(candidate, gpus, now);
        return gpus;
    }

    private int given(Candidate candidate) {
        return given.getOrDefault(candidate.job().spec().job(), 0);
    }

    private void give(Candidate candidate, int gpus, Map<JobId, Integer> now) {
        if (gpus != 0) {
            JobId job = candidate.job().spec().job();
            int before = lost(candidate);
            chosen.put(job, candidate);
            given.merge(job, gpus, Integer::sum);
            now.merge(job, gpus, Integer::sum);
            if (!candidate.isOwn()) {
                excess.put(candidate.queue(), excess(candidate.queue()) - (lost(candidate) - before));
            }
        }
    }

    /** The GPUs that a job loses with those that it gives: all, if it does not go on. */
    private int lost(Candidate candidate) {
        int gpus = given(candidate);
        JobState job = candidate.job();
        return gpus == 0 || goesOn(job, job.gpus() - gpus) ? gpus : job.gpus();
    }

    private static boolean goesOn(JobState job, int gpus) {
        return mayShrink(job) && JobChanges.goesOnWith(job, gpus);
    }

    /** Leaves GPUs that are not needed to the jobs chosen last; returns how many. */
    private int giveBack(int surplus, Map<JobId, Integer> now) {
        List<JobId> last = new ArrayList<>(now.keySet());
        Collections.reverse(last);
        int left = surplus;
        for (JobId job : last) {
            int gpus = now.getOrDefault(job, 0);
            Candidate candidate = chosen.get(job);
            if (candidate != null && gpus > 0 && gpus <= left) {
                give(candidate, -gpus, now);
                left -= gpus;
            }
        }
        return surplus - left;
    }

    /** The losses of the chosen jobs. */
    List<Loss> losses() {
        List<Loss> losses = new ArrayList<>();
        given.forEach((name, gpus) -> {
            Candidate candidate = chosen.get(name);
            if (candidate != null && gpus > 0) {
                int size = candidate.units().size();
                List<GpuId> units = candidate.units().subList(size - gpus, size);
                List<GpuId> rest = candidate.job().allocation().gpus().stream()
                        .filter(unit -> !units.contains(unit))
                        .toList();
                losses.add(new Loss(candidate.job(), units, goesOn(candidate.job(), rest.size()) ? rest : List.of()));
            }
        });
        return losses;
    }
}

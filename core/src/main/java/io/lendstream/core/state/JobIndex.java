package io.lendstream.core.state;

import io.lendstream.core.id.JobId;
import io.lendstream.core.persistent.PersistentMap;
import java.time.Instant;
import java.util.Optional;

/**
 * The jobs of a state in the orders in which a step looks for them.
 *
 * @param open jobs that are not over, not refused and not held back, in the order in which it is their turn
 * @param waiting those of them that hold no GPUs
 * @param refused jobs that are not over and refused
 * @param holding jobs that are not over and hold GPUs, or are about to
 * @param changing jobs that are being changed, by when the change has to be in force
 * @param unsettled jobs that hold other GPUs than they should and are not being changed, and paused jobs that are over
 * @param past jobs that are over and hold nothing, by when they last spoke
 * @param shaped jobs that are not over and not refused, and may not have each number of GPUs anywhere
 * @param paused jobs that are paused in host memory, also those that are over
 * @param faulty jobs whose program could not be run, by the end of their wait
 */
public record JobIndex(
        PersistentMap<QueueKey, JobId> open,
        PersistentMap<QueueKey, JobId> waiting,
        PersistentMap<JobId, JobState> refused,
        PersistentMap<JobId, JobId> holding,
        PersistentMap<DueKey<JobId>, JobId> changing,
        PersistentMap<JobId, JobState> unsettled,
        PersistentMap<DueKey<JobId>, JobId> past,
        PersistentMap<JobId, JobState> shaped,
        PersistentMap<JobId, JobState> paused,
        PersistentMap<DueKey<JobId>, JobId> faulty) {
    static final JobIndex EMPTY = new JobIndex(
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty());

    /** With the new state of a job in place of the old one; empty before it came or after it left. */
    JobIndex with(Optional<JobState> before, Optional<JobState> after) {
        return new JobIndex(
                keyed(open, before.flatMap(JobIndex::turn), after.flatMap(JobIndex::turn), after),
                keyed(waiting, before.flatMap(JobIndex::isWaiting), after.flatMap(JobIndex::isWaiting), after),
                ClusterIndex.moved(
                        refused, before.flatMap(JobIndex::isRefused), after.flatMap(JobIndex::isRefused), after),
                keyed(holding, before.flatMap(JobIndex::isHolding), after.flatMap(JobIndex::isHolding), after),
                ClusterIndex.moved(changing, before.flatMap(JobIndex::settledBy), after.flatMap(JobIndex::settledBy)),
                ClusterIndex.moved(
                        unsettled, before.flatMap(JobIndex::isUnsettled), after.flatMap(JobIndex::isUnsettled), after),
                ClusterIndex.moved(past, before.flatMap(JobIndex::lastWord), after.flatMap(JobIndex::lastWord)),
                ClusterIndex.moved(
                        shaped, before.flatMap(JobIndex::isShaped), after.flatMap(JobIndex::isShaped), after),
                ClusterIndex.moved(
                        paused, before.flatMap(JobIndex::isPaused), after.flatMap(JobIndex::isPaused), after),
                ClusterIndex.moved(faulty, before.flatMap(JobIndex::waitsUntil), after.flatMap(JobIndex::waitsUntil)));
    }

    /** Only the key counts: nothing changes while it stays. */
    private static <K extends Comparable<K>> PersistentMap<K, JobId> keyed(
            PersistentMap<K, JobId> map, Optional<K> before, Optional<K> after, Optional<JobState> job) {
        return before.equals(after)
                ? map
                : ClusterIndex.moved(
                        map, before, after, job.map(state -> state.spec().job()));
    }

    private static Optional<QueueKey> turn(JobState job) {
        return job.isOver() || job.isRefused() || job.isHeldBack() ? Optional.empty() : Optional.of(QueueKey.of(job));
    }

    private static Optional<QueueKey> isWaiting(JobState job) {
        return job.gpus() == 0 ? turn(job) : Optional.empty();
    }

    private static Optional<JobId> isRefused(JobState job) {
        return job.isOver() || !job.isRefused()
                ? Optional.empty()
                : Optional.of(job.spec().job());
    }

    private static Optional<JobId> isHolding(JobState job) {
        return job.isOver() || job.gpus() == 0
                ? Optional.empty()
                : Optional.of(job.spec().job());
    }

    private static Optional<DueKey<JobId>> settledBy(JobState job) {
        return job.changing().map(decision -> due(job.change().changeDeadline(), job));
    }

    private static Optional<JobId> isUnsettled(JobState job) {
        boolean unsettled = job.isOver()
                ? job.gpus() > 0 || (job.paused().isPresent() && job.changing().isEmpty())
                : !job.isHeldBack()
                        && job.changing().isEmpty()
                        && !job.target().equals(job.allocation().gpus());
        return unsettled ? Optional.of(job.spec().job()) : Optional.empty();
    }

    private static Optional<JobId> isShaped(JobState job) {
        return job.isOver()
                        || job.isRefused()
                        || job.isHeldBack()
                        || job.spec().shape().isAny()
                ? Optional.empty()
                : Optional.of(job.spec().job());
    }

    private static Optional<JobId> isPaused(JobState job) {
        return job.paused().map(at -> job.spec().job());
    }

    private static Optional<DueKey<JobId>> waitsUntil(JobState job) {
        return job.isOver() || !job.waitsForProgram()
                ? Optional.empty()
                : job.change().fault().map(fault -> due(fault.until(), job));
    }

    private static Optional<DueKey<JobId>> lastWord(JobState job) {
        return job.isOver() && job.gpus() == 0 ? job.lastProgressAt().map(at -> due(at, job)) : Optional.empty();
    }

    private static DueKey<JobId> due(Instant at, JobState job) {
        return new DueKey<>(at, job.spec().job());
    }
}

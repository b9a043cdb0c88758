package io.lendstream.simulator.replay;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.Limits;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.QuotaUse;
import io.lendstream.simulator.Distribution;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Measures how long queues wait for their nominal quota: for each waiting job whose first GPUs under the policy fit in
 * what its queue has left of its nominal quota, the time until a decision binds GPUs to it. If the job requires a
 * topology domain, it asks only while one can give these GPUs, see {@link DomainRoom}, or while GPUs are promised to
 * it. Jobs of a higher priority, then earlier ones, count first. A job that lost its GPUs asks a notice later, as in
 * the scheduler. One with a hard deadline asks when it is admitted. Asks that are met at once do not count. An ask that
 * is not met waits until the end of the run.
 */
final class QueueWaits {
    private static final double ROUNDING = 1e-6;

    private final Policy policy;
    private final Duration notice;
    private final TopologyLabels labels;
    private final Distribution seconds = new Distribution();
    private final Map<String, Distribution> byQueue = new TreeMap<>();
    private final Map<JobId, Ask> since = new HashMap<>();

    /** A job waits for the nominal quota of its queue. */
    private record Ask(QueueId queue, Instant since) {}

    QueueWaits(Policy policy, SchedulerSettings settings) {
        this.policy = policy;
        this.notice = settings.notice();
        this.labels = settings.model().topology();
    }

    /** Takes the state after an event. */
    void take(Step step) {
        ClusterState state = step.state();
        boolean isSame = step.changed().owners().isEmpty()
                && step.changed().jobs().isEmpty()
                && step.changed().queues().isEmpty();
        if (state.queues().isEmpty() || isSame) {
            return;
        }
        List<JobState> waiting = new ArrayList<>();
        Set<JobId> open = new HashSet<>();
        for (JobState job : state.entities().openJobs()) {
            open.add(job.spec().job());
            if (job.gpus() == 0 && !job.isOnSlice()) {
                waiting.add(job);
            } else {
                end(job.spec().job(), state.now());
            }
        }
        since.keySet().retainAll(open);
        if (!waiting.isEmpty()) {
            ask(state, waiting);
        }
    }

    private void end(JobId job, Instant now) {
        Optional.ofNullable(since.remove(job))
                .filter(ask -> ask.since.isBefore(now))
                .ifPresent(ask -> add(ask.queue, Limits.millis(Duration.between(ask.since, now)) / 1000.0));
    }

    private void add(QueueId queue, double wait) {
        seconds.add(wait);
        byQueue.computeIfAbsent(queue.value(), any -> new Distribution()).add(wait);
    }

    private void ask(ClusterState state, List<JobState> waiting) {
        ClusterEntities entities = state.entities();
        QueueLedger kept = QueueLedger.of(entities).withoutLeaving();
        Map<QueueId, List<Double>> rooms = new HashMap<>();
        for (QueueState queue : state.queues().values()) {
            List<Double> left = new ArrayList<>();
            for (QuotaUse use : kept.uses(queue.spec().queue())) {
                left.add(use.nominal() - use.used());
            }
            rooms.put(queue.spec().queue(), left);
        }
        waiting.sort(Comparator.comparingInt((JobState job) -> -entities.priorityOf(job))
                .thenComparing(job -> job.spec().submittedAt())
                .thenComparing(job -> job.spec().job()));
        DomainRoom room = new DomainRoom(state, kept, labels);
        int before = 0;
        for (JobState job : waiting) {
            List<Double> left = job.spec()
                    .queue()
                    .flatMap(queue -> Optional.ofNullable(rooms.get(queue)))
                    .orElse(List.of());
            int gpus = policy.fewest(job.spec());
            boolean isPromised = !job.target().isEmpty();
            if (mayAsk(job) && (isPromised || room.has(job, gpus + before)) && takes(left, gpus)) {
                before += isPromised ? 0 : gpus;
                Ask ask = new Ask(job.spec().queue().orElseThrow(), asksFrom(job, state.now()));
                since.putIfAbsent(job.spec().job(), ask);
            } else {
                since.remove(job.spec().job());
            }
        }
    }

    /** Whether a job was not refused, and does not await the answer to its hard deadline. */
    private static boolean mayAsk(JobState job) {
        boolean awaitsAnswer =
                job.spec().hardDeadline().isPresent() && job.admission().isEmpty();
        return !job.isRefused() && !awaitsAnswer;
    }

    private Instant asksFrom(JobState job, Instant now) {
        if (job.usage().startedAt().isEmpty()) {
            return now;
        }
        Instant again = job.usage().attainedUpTo().plus(notice);
        return again.isAfter(now) ? again : now;
    }

    /** Takes GPUs from the first quota that has enough. */
    private static boolean takes(List<Double> rooms, int gpus) {
        for (int i = 0; i < rooms.size(); i++) {
            if (gpus <= rooms.get(i) + ROUNDING) {
                rooms.set(i, rooms.get(i) - gpus);
                return true;
            }
        }
        return false;
    }

    /** The waits in seconds, after the last event. */
    Distribution seconds(Instant endOfRun) {
        List.copyOf(since.keySet()).forEach(job -> end(job, endOfRun));
        return seconds;
    }

    /** The same by queue, for all queues of a workload. */
    Map<String, Distribution> byQueue(List<ClusterQueue> queues) {
        queues.forEach(queue -> byQueue.computeIfAbsent(queue.queue().value(), any -> new Distribution()));
        return byQueue;
    }
}

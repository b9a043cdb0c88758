package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QuotaUse;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The kinds of GPUs on which a job has the best chance under the quotas of its queue. Policies do not know queues. So a
 * job would wait for a kind without a quota, although its queue has one for another kind.
 */
final class QueueKinds {
    private static final int NO_QUOTA = 0;
    private static final int QUOTA_TOO_SMALL = 1;
    private static final int QUOTA_IN_USE = 2;
    private static final int QUOTA_LEFT = 3;

    private final StepBuilder builder;
    private final QuotaGuard guard;
    private final Map<QueueId, Map<KindId, Optional<QuotaUse>>> uses = new HashMap<>();
    private final Map<JobId, Chances> chances = new HashMap<>();

    /**
     * The chances of a job.
     *
     * @param held the whole GPUs that it holds, by kind
     * @param best its best chance
     */
    private record Chances(Map<KindId, Integer> held, int best) {}

    QueueKinds(StepBuilder builder) {
        this.builder = builder;
        this.guard = new QuotaGuard(builder);
    }

    /** Whether a job has no better chance on another kind; always true without a queue. */
    boolean isBest(JobState job, KindId kind) {
        JobId name = job.spec().job();
        Optional<QueueId> queue = guard.isOn() ? guard.queueOf(new Tenant.Job(name)) : Optional.empty();
        if (queue.isEmpty()) {
            return true;
        }
        Chances known = chances.computeIfAbsent(name, any -> chances(job, queue.get()));
        return chance(job, queue.get(), kind, known.held) >= known.best;
    }

    private Chances chances(JobState job, QueueId queue) {
        Map<KindId, Integer> held = held(job);
        int highest = NO_QUOTA;
        for (Map.Entry<KindId, Integer> kind :
                builder.clusterIndex().trainingCapacity().kinds()) {
            if (KindChoice.mayUse(job.spec(), kind.getKey())) {
                highest = Math.max(highest, chance(job, queue, kind.getKey(), held));
            }
        }
        return new Chances(held, highest);
    }

    private int chance(JobState job, QueueId queue, KindId kind, Map<KindId, Integer> heldOf) {
        int least = job.spec().leastSize();
        int held = heldOf.getOrDefault(kind, 0);
        if (held >= least) {
            return QUOTA_LEFT;
        }
        Optional<QuotaUse> use = uses.computeIfAbsent(queue, any -> new HashMap<>())
                .computeIfAbsent(kind, any -> builder.ledger().use(queue, Optional.of(kind)));
        if (use.isEmpty()) {
            return NO_QUOTA;
        }
        if (use.get().limit() < least) {
            return QUOTA_TOO_SMALL;
        }
        return use.get().room() + held >= least ? QUOTA_LEFT : QUOTA_IN_USE;
    }

    private Map<KindId, Integer> held(JobState job) {
        Map<KindId, Integer> held = new HashMap<>(2);
        for (GpuId id : job.allocation().gpus()) {
            builder.gpus()
                    .get(id)
                    .filter(GpuState::isWhole)
                    .flatMap(GpuState::kind)
                    .ifPresent(kind -> held.merge(kind, 1, Integer::sum));
        }
        return held;
    }
}

package io.lendstream.core.scheduler;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.LimitExcess;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.QuotaUse;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Marks the queues that a declaration leaves further above their limit than before: that of a queue, or of a job or
 * service that comes from another queue. They give back what they have too much, see {@link LimitReturns}. A queue that
 * is above its limit because another one uses its own nominal quota is not marked: it gives back what others ask for.
 * It is marked once the other one would not lend it that any more.
 */
final class LoweredLimits {
    private static final double ROUNDING = 1e-6;

    private LoweredLimits() {}

    static void mark(StepBuilder step) {
        ClusterEntities before = step.before().entities();
        if (step.entities().queues().isEmpty() || !mayLower(step, before)) {
            return;
        }
        Map<QueueId, Map<Optional<KindId>, QuotaUse>> known = new HashMap<>();
        for (QuotaUse use : LimitExcess.of(before)) {
            known.computeIfAbsent(use.queue(), any -> new HashMap<>()).put(use.kind(), use);
        }
        for (QuotaUse use : LimitExcess.of(step.entities())) {
            Optional<QuotaUse> had = Optional.ofNullable(
                    known.getOrDefault(use.queue(), Map.of()).get(use.kind()));
            QueueState queue = step.entities().queues().require(use.queue());
            if (queue.overSince().isEmpty() && LimitExcess.added(before, had, step.entities(), use) > ROUNDING) {
                step.put(queue.over(Optional.of(step.now())));
            }
        }
    }

    /** Whether an event can lower a limit, or brings a tenant with its units to another queue. */
    private static boolean mayLower(StepBuilder step, ClusterEntities before) {
        if (step.event().asQueue().isPresent()) {
            return true;
        }
        Optional<TrainingJob> job = step.event().asJob();
        if (job.isPresent()) {
            return before.jobs()
                    .get(job.get().job())
                    .filter(known -> !known.spec().queue().equals(job.get().queue()))
                    .isPresent();
        }
        Optional<InferenceService> service = step.event().asService();
        return service.isPresent()
                && before.services()
                        .get(service.get().service())
                        .filter(known ->
                                !known.spec().queue().equals(service.get().queue()))
                        .isPresent();
    }
}

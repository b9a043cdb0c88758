package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.state.QuotaUse;
import java.util.Optional;

/**
 * The numbers of a queue in a plan, for the reasons of its jobs.
 *
 * @param queue empty for jobs without a queue
 * @param share GPUs that the plan leaves to it
 * @param higher those of them that are for its jobs of higher priority
 * @param held GPUs that its jobs have before the plan
 * @param all GPUs that the plan shares among queues
 * @param nominal the nominal quotas of all queues together
 */
record PoolShare(Optional<QueueId> queue, int share, int higher, int held, int all, double nominal) {
    /** The numbers for jobs of a lower priority, which come after jobs that can use so many GPUs. */
    PoolShare after(int useful) {
        return new PoolShare(queue, share, Math.min(share, higher + useful), held, all, nominal);
    }

    /** Why a job gives up GPUs, as the end of a reason. */
    String inWords(int given) {
        return "%s no share left for %s of it: the share is %d of %s, %s; all nominal quotas together are %s GPUs"
                .formatted(
                        queue.map(name -> "queue " + name + " has").orElse("jobs without a queue have"),
                        Reason.counted(given, "GPU"),
                        share,
                        Reason.counted(all, "GPU"),
                        higher > 0
                                ? "%d of it for jobs of higher priority in the queue".formatted(higher)
                                : "%d in use, while other queues have less than their share".formatted(held),
                        QuotaUse.text(nominal));
    }
}

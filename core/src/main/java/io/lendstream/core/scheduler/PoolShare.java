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
 * @param held GPUs that its jobs have before the plan
 * @param all GPUs that the plan shares among queues
 * @param nominal the nominal quotas of all queues together
 */
record PoolShare(Optional<QueueId> queue, int share, int held, int all, double nominal) {
    /** Why a job gives up GPUs, as the end of a reason. */
    String inWords(int given) {
        return "%s no share left for %s of it: %s share is %d of %s, and %s %d, while other queues have less than theirs; all nominal quotas together are %s GPUs"
                .formatted(
                        queue.map(name -> "queue " + name + " has").orElse("jobs without a queue have"),
                        Reason.counted(given, "GPU"),
                        queue.isPresent() ? "its" : "their",
                        share,
                        Reason.counted(all, "GPU"),
                        queue.isPresent() ? "it has" : "they have",
                        held,
                        QuotaUse.text(nominal));
    }
}

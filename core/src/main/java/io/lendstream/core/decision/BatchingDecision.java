package io.lendstream.core.decision;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The batching decided for a service's replicas, and their slices.
 *
 * @param profile MIG profile of the smallest instance, for which the batches are right; empty for whole GPUs
 * @param instances how many instances, or GPUs, serve
 */
public record BatchingDecision(
        DecisionId id,
        ServiceId service,
        DomainId domain,
        Instant at,
        List<Bucket> buckets,
        Optional<String> profile,
        int instances) {
    public BatchingDecision {
        buckets = List.copyOf(buckets);
    }

    /** A decision as the servers of its service read it. */
    public static BatchingDecision of(Decision decision, Action.Batching batching) {
        return new BatchingDecision(
                decision.id(),
                batching.service(),
                decision.id().domain(),
                decision.at(),
                batching.buckets(),
                batching.profile(),
                batching.gpus().size());
    }
}

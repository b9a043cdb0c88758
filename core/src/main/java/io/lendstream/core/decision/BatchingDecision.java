package io.lendstream.core.decision;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.ServiceId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * How a service's replicas are to batch, and on which slices.
 *
 * @param profile MIG profile of an instance; empty for whole GPUs
 * @param instances how many of them
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
}

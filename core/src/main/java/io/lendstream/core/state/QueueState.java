package io.lendstream.core.state;

import io.lendstream.core.event.ClusterQueue;
import java.time.Instant;
import java.util.Optional;

/**
 * A queue as it was last declared.
 *
 * @param refusedGpus GPUs that the last plan had for jobs of the queue, and that its quotas refused; 0 again when a job
 *     comes to the queue, so that the next refusal is a decision that names it
 * @param refusedReplicas replicas that services of the queue lack because its quotas refuse them
 * @param refusedInShapes GPUs of the replicas with shapes that its quotas refuse; empty if they refuse none
 * @param overSince when a declaration left the queue above its limit; empty if it has given back what it had above it
 */
public record QueueState(
        ClusterQueue spec,
        int refusedGpus,
        int refusedReplicas,
        Optional<Integer> refusedInShapes,
        Optional<Instant> overSince) {
    public static QueueState of(ClusterQueue spec) {
        return new QueueState(spec, 0, 0, Optional.empty(), Optional.empty());
    }

    public QueueState describedBy(ClusterQueue next) {
        return new QueueState(next, refusedGpus, refusedReplicas, refusedInShapes, overSince);
    }

    public QueueState refusingGpus(int gpus) {
        return new QueueState(spec, gpus, refusedReplicas, refusedInShapes, overSince);
    }

    public QueueState refusingReplicas(int replicas) {
        return new QueueState(spec, refusedGpus, replicas, refusedInShapes, overSince);
    }

    public QueueState refusingInShapes(int gpus) {
        Optional<Integer> refused = gpus == 0 ? Optional.empty() : Optional.of(gpus);
        return new QueueState(spec, refusedGpus, refusedReplicas, refused, overSince);
    }

    /** The queue has more than its limit allows since a declaration, or no more. */
    public QueueState over(Optional<Instant> since) {
        return new QueueState(spec, refusedGpus, refusedReplicas, refusedInShapes, since);
    }

    /** Whether its quotas refuse replicas. */
    public boolean refusesReplicas() {
        return refusedReplicas > 0 || refusedInShapes.isPresent();
    }
}

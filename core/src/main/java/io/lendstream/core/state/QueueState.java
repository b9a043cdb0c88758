package io.lendstream.core.state;

import io.lendstream.core.event.ClusterQueue;

/**
 * A queue as it was last declared.
 *
 * @param refusedGpus GPUs that the last plan had for jobs of the queue, and that its quotas refused; 0 again when a job
 *     comes to the queue, so that the next refusal is a decision that names it
 * @param refusedReplicas replicas that services of the queue lack because its quotas refuse them
 */
public record QueueState(ClusterQueue spec, int refusedGpus, int refusedReplicas) {
    public static QueueState of(ClusterQueue spec) {
        return new QueueState(spec, 0, 0);
    }

    public QueueState describedBy(ClusterQueue next) {
        return new QueueState(next, refusedGpus, refusedReplicas);
    }

    public QueueState refusingGpus(int gpus) {
        return new QueueState(spec, gpus, refusedReplicas);
    }

    public QueueState refusingReplicas(int replicas) {
        return new QueueState(spec, refusedGpus, replicas);
    }
}

package io.lendstream.core.event;

/**
 * Which jobs have to give GPUs to a waiting job, in Kueue's words.
 *
 * @see <a href="https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#preemption">Kueue, ClusterQueue: preemption</a>
 */
public enum Preemption {
    /** Not known to this version; no job gives GPUs. */
    UNKNOWN,
    /** No job gives GPUs. */
    NEVER,
    /** Jobs of a lower priority than that of the waiting job. */
    LOWER_PRIORITY,
    /** All jobs. */
    ANY;

    /** Whether a job of a priority has to give GPUs to a waiting job. */
    public boolean takes(int priority, int ofWaiting) {
        return switch (this) {
            case UNKNOWN, NEVER -> false;
            case LOWER_PRIORITY -> priority < ofWaiting;
            case ANY -> true;
        };
    }
}

package io.lendstream.core.goodput;

/**
 * A training step as it was measured.
 *
 * @param nodes nodes the job ran on
 * @param replicas GPUs it ran on
 * @param localBatch batch of one replica, in samples
 * @param stepSeconds time of a synchronised step, synchronisation included
 * @param syncSeconds part of it spent waiting for synchronisation
 */
public record StepObservation(int nodes, int replicas, int localBatch, double stepSeconds, double syncSeconds) {
    private static final double SHORTEST_SECONDS = 1e-8;

    public StepObservation {
        if (nodes < 1 || replicas < nodes || localBatch < 1) {
            throw new IllegalArgumentException(
                    "a step needs at least one node, a replica on each and a sample in each, but had %d nodes, %d replicas and %d samples"
                            .formatted(nodes, replicas, localBatch));
        }
        if (!(stepSeconds > 0) || Double.isInfinite(stepSeconds) || !(syncSeconds >= 0) || syncSeconds > stepSeconds) {
            throw new IllegalArgumentException(
                    "a step must take more than 0 s and its synchronisation no more than that, but were %s s and %s s"
                            .formatted(stepSeconds, syncSeconds));
        }
    }

    /** Whether it was measured on as many nodes and GPUs, with the same local batch. */
    boolean isLike(StepObservation other) {
        return nodes == other.nodes && replicas == other.replicas && localBatch == other.localBatch;
    }

    /** Seconds of a step that only accumulates gradients; never 0, for its logarithm is taken. */
    public double accumulationSeconds() {
        return Math.max(SHORTEST_SECONDS, stepSeconds - syncSeconds);
    }
}

package io.lendstream.actuator.jobs;

/**
 * The batching of a training step.
 *
 * @param localBatch samples that one worker computes at once
 * @param accumulation number of such batches in a worker's part of a step
 * @param learningRateScale factor on the learning rate of the script's scheduler
 */
public record Batching(int localBatch, int accumulation, double learningRateScale) {
    public Batching {
        if (localBatch < 1 || accumulation < 1 || !(learningRateScale > 0)) {
            throw new IllegalArgumentException(
                    "local batch, accumulation and learning-rate scale must be positive, but are %d, %d and %s"
                            .formatted(localBatch, accumulation, learningRateScale));
        }
    }
}

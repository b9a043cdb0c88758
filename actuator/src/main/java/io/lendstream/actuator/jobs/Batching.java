package io.lendstream.actuator.jobs;

/**
 * How a step's samples are made up.
 *
 * @param localBatch samples that one worker computes at a time
 * @param accumulation how many such batches make up its part of a step
 * @param learningRateScale factor on the rate that the script's scheduler says
 */
public record Batching(int localBatch, int accumulation, double learningRateScale) {
    public Batching {
        if (localBatch < 1 || accumulation < 1 || !(learningRateScale > 0)) {
            throw new IllegalArgumentException(
                    "local batch, accumulation and learning-rate scale must be positive, but were %d, %d and %s"
                            .formatted(localBatch, accumulation, learningRateScale));
        }
    }
}

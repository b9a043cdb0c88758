package io.lendstream.core.latency;

import java.util.Optional;

/**
 * Batches of one size that instances of one size served, or a probe ran.
 *
 * @param batch inputs in each, padded ones included
 * @param size of each input, as a share of the model's largest: above 0, at most 1; 1 for models whose inputs are all
 *     alike
 * @param count how many batches; at least 1
 * @param meanMillis that one took; above 0
 * @param squaredDeviation sum over the batches of the squares of their distance from the mean, in square milliseconds;
 *     empty where only sums were counted, as Triton does
 */
public record ServedBatches(
        Slice slice, int batch, double size, long count, double meanMillis, Optional<Double> squaredDeviation) {
    public ServedBatches {
        if (batch < 1 || count < 1) {
            throw new IllegalArgumentException(
                    "served batches must be at least 1 and have at least 1 input, but %d of %d inputs were given"
                            .formatted(count, batch));
        }
        if (!(size > 0 && size <= 1)) {
            throw new IllegalArgumentException(
                    "an input's size must be a share of the largest, above 0 and at most 1, but is " + size);
        }
        if (!(meanMillis > 0 && Double.isFinite(meanMillis))
                || !squaredDeviation
                        .map(squares -> squares >= 0 && Double.isFinite(squares))
                        .orElse(true)) {
            throw new IllegalArgumentException(
                    "served batches must take more than 0 ms with a squared deviation of at least 0, but took %s ms with %s"
                            .formatted(meanMillis, squaredDeviation));
        }
    }

    /** With no more known than the mean. */
    public static ServedBatches of(Slice slice, int batch, double size, long count, double meanMillis) {
        return new ServedBatches(slice, batch, size, count, meanMillis, Optional.empty());
    }

    double logMillis() {
        return Math.log(meanMillis);
    }
}

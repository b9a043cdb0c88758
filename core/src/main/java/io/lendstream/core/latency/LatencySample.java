package io.lendstream.core.latency;

/**
 * A batch that was timed.
 *
 * @param batch inputs in it, padded ones included
 * @param size of each, as a share of the model's largest: above 0, at most 1; 1 for models whose inputs are all alike
 * @param millis that it took; above 0
 */
public record LatencySample(Slice slice, int batch, double size, double millis) {
    public LatencySample {
        if (batch < 1) {
            throw new IllegalArgumentException("a batch must have at least 1 input, but has " + batch);
        }
        if (!(size > 0 && size <= 1)) {
            throw new IllegalArgumentException(
                    "an input's size must be a share of the largest, above 0 and at most 1, but is " + size);
        }
        if (!(millis > 0)) {
            throw new IllegalArgumentException("a batch must take more than 0 ms, but took " + millis);
        }
    }
}

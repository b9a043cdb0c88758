package io.lendstream.simulator.report;

import java.util.Arrays;
import java.util.List;
import org.hipparchus.distribution.continuous.TDistribution;

/**
 * The mean of a sample with its 95 % confidence interval by Student's t distribution.
 *
 * @param size numbers in the sample
 * @param half half the width of the interval; not a number for fewer than two numbers
 */
public record MeanInterval(int size, double mean, double half) {
    private static final double CONFIDENCE = 0.95;

    /** The mean of these numbers; not a number without any. */
    public static MeanInterval of(List<Double> sample) {
        double[] values = sample.stream().mapToDouble(Double::doubleValue).toArray();
        int size = values.length;
        double mean = Arrays.stream(values).average().orElse(Double.NaN);
        if (size < 2) {
            return new MeanInterval(size, mean, Double.NaN);
        }
        double squares = Arrays.stream(values)
                .map(value -> (value - mean) * (value - mean))
                .sum();
        double error = Math.sqrt(squares / (size - 1) / size);
        return new MeanInterval(size, mean, tQuantile(size - 1) * error);
    }

    /** The bound that a t-distributed number exceeds in size with a probability of 5 %. */
    static double tQuantile(int degrees) {
        return new TDistribution(degrees).inverseCumulativeProbability((1 + CONFIDENCE) / 2);
    }

    /** Whether there is an interval. */
    public boolean hasInterval() {
        return Double.isFinite(half);
    }
}

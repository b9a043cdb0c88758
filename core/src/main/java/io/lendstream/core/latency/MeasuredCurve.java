package io.lendstream.core.latency;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/**
 * Latency over batches where some bins were measured: through their means, made to rise with the batch, between them in
 * the shape of the model, and beyond them the model's, but never faster than a smaller batch that was measured, nor
 * slower than a larger one. So it never falls as batches grow.
 */
final class MeasuredCurve {
    private final double[] batches;
    private final double[] expected;
    private final double[] logMillis;
    private final Map<Integer, Double> spreads = new TreeMap<>();

    /**
     * A curve through bins.
     *
     * @param bins at least one, of one line, by batch
     * @param model logarithm of the milliseconds that the model expects of a bin
     */
    MeasuredCurve(List<MeasuredBin> bins, ToDoubleFunction<MeasuredBin> model) {
        batches = bins.stream().mapToDouble(MeasuredBin::batch).toArray();
        expected = bins.stream().mapToDouble(model).toArray();
        logMillis = rising(
                bins.stream().mapToDouble(MeasuredBin::logMillis).toArray(),
                bins.stream().mapToDouble(MeasuredBin::weight).toArray());
        bins.forEach(bin -> spreads.put(bin.bin().batch(), bin.spread()));
    }

    /** The closest values that never fall: neighbours that do share their mean (pool adjacent violators). */
    private static double[] rising(double[] values, double[] weights) {
        double[] pooled = new double[values.length];
        double[] weight = new double[values.length];
        int[] ends = new int[values.length];
        int pools = 0;
        for (int i = 0; i < values.length; i++) {
            pooled[pools] = values[i];
            weight[pools] = weights[i];
            ends[pools++] = i + 1;
            while (pools > 1 && pooled[pools - 2] > pooled[pools - 1]) {
                pools--;
                double sum = weight[pools - 1] + weight[pools];
                pooled[pools - 1] = (weight[pools - 1] * pooled[pools - 1] + weight[pools] * pooled[pools]) / sum;
                weight[pools - 1] = sum;
                ends[pools - 1] = ends[pools];
            }
        }
        double[] result = new double[values.length];
        for (int pool = 0; pool < pools; pool++) {
            Arrays.fill(result, pool == 0 ? 0 : ends[pool - 1], ends[pool], pooled[pool]);
        }
        return result;
    }

    /**
     * Logarithm of the milliseconds of a batch.
     *
     * @param model what the model expects of it
     */
    double logMillis(double batch, double model) {
        int found = Arrays.binarySearch(batches, batch);
        if (found >= 0) {
            return logMillis[found];
        }
        int above = -found - 1;
        int below = above - 1;
        if (below < 0) {
            return Math.min(logMillis[0], model);
        }
        if (above == batches.length) {
            return Math.max(logMillis[below], model);
        }
        double rise = expected[above] - expected[below];
        double share = rise > 0
                ? Math.max(0, Math.min(1, (model - expected[below]) / rise))
                : (batch - batches[below]) / (batches[above] - batches[below]);
        return logMillis[below] + share * (logMillis[above] - logMillis[below]);
    }

    /** Standard deviation of logarithms in a bin, if it was measured. */
    Optional<Double> spread(LatencyBin bin) {
        return Optional.ofNullable(spreads.get(bin.batch()));
    }
}

package io.lendstream.core.batching;

import io.lendstream.core.latency.LatencyModel;
import io.lendstream.core.latency.Slice;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a latency model says of a model, with a margin for what it does not know: where it has a wide spread, batches are taken to be
 * longer.
 *
 * @param gpu on whose instances
 * @param largestSize of the model's inputs
 * @param vouched inputs of the largest size that ran at once, by memory slices of the instance; those with more memory hold
 *     as many
 * @param leastMargin 0.1 for 10 % at least
 * @param mostMargin at most, whatever the spread
 */
public record LearnedLatency(
        LatencyModel model,
        MigGpu gpu,
        int largestSize,
        NavigableMap<Integer, Double> vouched,
        double leastMargin,
        double mostMargin)
        implements ModelLatency {
    /** One in twenty is longer. */
    private static final double DEVIATIONS = 1.64;

    public LearnedLatency {
        vouched = java.util.Collections.unmodifiableNavigableMap(new TreeMap<>(vouched));
    }

    @Override
    public Optional<BatchLatency> on(MigProfile profile, int size) {
        Map.Entry<Integer, Double> known = vouched.floorEntry(profile.memorySlices());
        if (known == null) {
            return Optional.empty();
        }
        double share = (double) size / largestSize;
        int most = (int) (known.getValue() / share);
        if (most < 1) {
            return Optional.empty();
        }
        Slice slice = Slice.of(gpu, profile);
        Map<Integer, Double> millis = new TreeMap<>();
        for (int batch = 1; batch < most; batch *= 2) {
            millis.put(batch, millis(slice, batch, share));
        }
        millis.put(most, millis(slice, most, share));
        return Optional.of(new TabulatedLatency(millis));
    }

    private double millis(Slice slice, int batch, double share) {
        double margin = Math.exp(DEVIATIONS * model.spread(slice, batch, share)) - 1;
        return model.millis(slice, batch, share) * (1 + Math.max(leastMargin, Math.min(mostMargin, margin)));
    }
}

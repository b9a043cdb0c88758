package io.lendstream.core.batching;

import io.lendstream.core.latency.LatencyModel;
import io.lendstream.core.latency.MemoryLearner;
import io.lendstream.core.latency.Slice;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntToDoubleFunction;

/**
 * The learned latency of a model, with a margin for unknowns.
 *
 * @param gpu on whose instances
 * @param largestSize of the model's inputs
 * @param memory the work that is known to fit, by memory slices of the instance
 * @param margin the share by which batches are assumed to be longer
 */
public record LearnedLatency(LatencyModel model, MigGpu gpu, int largestSize, MemoryLearner memory, Margin margin)
        implements ModelLatency {
    /** The trust in a model. */
    public interface Margin {
        /**
         * A fraction: 0.1 for ten per cent longer than the model.
         *
         * @param size as a share of the largest
         */
        double of(Slice slice, int batch, double size);
    }

    @Override
    public Optional<BatchLatency> on(MigProfile profile, int size) {
        double share = (double) size / largestSize;
        int most = memory.largestBatch(profile.memorySlices(), share);
        if (most < 1) {
            return Optional.empty();
        }
        Slice slice = Slice.of(gpu, profile);
        return Optional.of(tabulated(most, batch -> millis(slice, batch, share)));
    }

    /** Latencies of powers of two, and of the largest batch. */
    static BatchLatency tabulated(int most, IntToDoubleFunction latency) {
        Map<Integer, Double> millis = new TreeMap<>();
        for (int batch = 1; batch < most; batch *= 2) {
            millis.put(batch, latency.applyAsDouble(batch));
        }
        millis.put(most, latency.applyAsDouble(most));
        return new TabulatedLatency(millis);
    }

    private double millis(Slice slice, int batch, double share) {
        return model.millis(slice, batch, share) * (1 + margin.of(slice, batch, share));
    }
}

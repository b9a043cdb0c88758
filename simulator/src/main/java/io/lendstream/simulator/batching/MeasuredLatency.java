package io.lendstream.simulator.batching;

import io.lendstream.core.batching.BatchLatency;
import io.lendstream.core.batching.ModelLatency;
import io.lendstream.core.batching.TabulatedLatency;
import io.lendstream.core.mig.MigProfile;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A model as it was measured: straight between measured batches, and none larger than the largest. Inputs of a size
 * that was not measured count as of the next larger one that was.
 */
public record MeasuredLatency(LatencyTable table) implements ModelLatency {
    @Override
    public Optional<BatchLatency> on(MigProfile profile, int size) {
        Map<Integer, Map<Integer, Double>> bySize = new TreeMap<>();
        table.rows().stream()
                .filter(row -> row.profile().equals(profile) && row.inputSize() >= size)
                .forEach(row -> bySize.computeIfAbsent(row.inputSize(), any -> new TreeMap<>())
                        .put(row.batch(), row.millis()));
        return bySize.values().stream().findFirst().map(TabulatedLatency::new);
    }

    @Override
    public int largestSize() {
        return table.largestInput();
    }
}

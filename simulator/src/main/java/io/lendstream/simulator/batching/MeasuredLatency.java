package io.lendstream.simulator.batching;

import io.lendstream.core.batching.BatchLatency;
import io.lendstream.core.mig.MigProfile;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** A model on a profile as it was measured: straight between measured batches, and none larger than the largest. */
public final class MeasuredLatency implements BatchLatency {
    private final NavigableMap<Integer, Double> millis = new TreeMap<>();

    private MeasuredLatency(LatencyTable table, MigProfile profile, int inputSize) {
        table.rows().stream()
                .filter(row -> row.profile().equals(profile) && row.inputSize() == inputSize)
                .forEach(row -> millis.put(row.batch(), row.millis()));
        double longest = 0;
        for (Map.Entry<Integer, Double> entry : millis.entrySet()) {
            longest = Math.max(longest, entry.getValue());
            entry.setValue(longest);
        }
    }

    /** Of inputs of one size; nothing where no batch ran. */
    public static Optional<MeasuredLatency> of(LatencyTable table, MigProfile profile, int inputSize) {
        MeasuredLatency latency = new MeasuredLatency(table, profile, inputSize);
        return latency.millis.isEmpty() ? Optional.empty() : Optional.of(latency);
    }

    @Override
    public double millis(double batch) {
        Map.Entry<Integer, Double> below = millis.floorEntry((int) batch);
        Map.Entry<Integer, Double> above = millis.higherEntry((int) batch);
        if (below == null) {
            return millis.firstEntry().getValue();
        }
        if (above == null) {
            return below.getValue() * Math.max(1, batch / below.getKey());
        }
        double share = (batch - below.getKey()) / (above.getKey() - below.getKey());
        return below.getValue() + share * (above.getValue() - below.getValue());
    }

    @Override
    public int largestBatch() {
        return millis.lastKey();
    }
}

package io.lendstream.core.batching;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** Latencies at some batches, straight between them; a larger batch never takes less. */
public final class TabulatedLatency implements BatchLatency {
    private final NavigableMap<Integer, Double> millis = new TreeMap<>();

    /**
     * As far as the largest of them.
     *
     * @param millis by batch; at least one
     */
    public TabulatedLatency(Map<Integer, Double> millis) {
        this.millis.putAll(millis);
        if (millis.isEmpty()) {
            throw new IllegalArgumentException("latencies must be known of at least 1 batch, but are of none");
        }
        double longest = 0;
        for (Map.Entry<Integer, Double> entry : this.millis.entrySet()) {
            longest = Math.max(longest, entry.getValue());
            entry.setValue(longest);
        }
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

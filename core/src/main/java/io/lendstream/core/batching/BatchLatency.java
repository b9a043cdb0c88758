package io.lendstream.core.batching;

/** The time that an instance takes for a batch. */
public interface BatchLatency {
    /**
     * Milliseconds of a batch; never falls as batches grow.
     *
     * @param batch inputs, at least 1; between whole numbers an estimate for capacities, which reckon with means
     */
    double millis(double batch);

    /** The largest batch that its memory holds, or that is declared to fit; at least 1. */
    int largestBatch();

    /** The same with every batch longer by a factor, as a margin for unknowns. */
    default BatchLatency times(double factor) {
        BatchLatency plain = this;
        return new BatchLatency() {
            @Override
            public double millis(double batch) {
                return factor * plain.millis(batch);
            }

            @Override
            public int largestBatch() {
                return plain.largestBatch();
            }
        };
    }

    /** The same with no batch larger than some. */
    default BatchLatency upTo(int batch) {
        BatchLatency plain = this;
        return new BatchLatency() {
            @Override
            public double millis(double size) {
                return plain.millis(size);
            }

            @Override
            public int largestBatch() {
                return Math.min(batch, plain.largestBatch());
            }
        };
    }
}

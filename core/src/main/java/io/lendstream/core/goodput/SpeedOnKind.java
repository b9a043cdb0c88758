package io.lendstream.core.goodput;

/**
 * A job's goodput on one kind of GPU: that of a model, scaled.
 *
 * @param known the model, measured or declared
 * @param factor goodput over that of the model; 1 unless the speed follows from another kind by a ratio
 */
public record SpeedOnKind(KnownGoodput known, double factor) {
    /** Goodput on {@code replicas} GPUs over {@code nodes}, in samples of the initial batch per second. */
    public double on(int nodes, int replicas) {
        return factor * known.on(nodes, replicas);
    }

    /** Goodput on {@code replicas} GPUs, at least 1, over the fewest nodes of {@code gpusPerNode} GPUs. */
    public double packed(int gpusPerNode, int replicas) {
        return factor * known.packed(gpusPerNode, replicas);
    }
}

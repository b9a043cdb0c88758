package io.lendstream.core.policy;

import java.util.OptionalDouble;

/** The goodput of a job on any number of GPUs, with the best batch for them. */
@FunctionalInterface
public interface Goodput {
    /**
     * Goodput on {@code gpus} over {@code nodes}, in samples of the initial batch per second; 0 where it cannot run.
     */
    double on(int nodes, int gpus);

    /** Goodput on {@code gpus}, at least 1, over the fewest nodes of {@code gpusPerNode} GPUs that hold them. */
    default double packed(int gpusPerNode, int gpus) {
        return on((gpus + gpusPerNode - 1) / gpusPerNode, gpus);
    }

    /**
     * How many times another goodput it is, on any GPUs; empty if that is not known. What scales need not be worked out
     * again for another kind of GPU.
     */
    default OptionalDouble ratioTo(Goodput other) {
        return other == this ? OptionalDouble.of(1) : OptionalDouble.empty();
    }
}

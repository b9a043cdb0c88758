package io.lendstream.simulator.published;

import io.lendstream.core.goodput.Batch;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.policy.Goodput;
import java.util.Optional;

/**
 * The total batch that a job's owner chose, on any number of GPUs.
 *
 * @param total samples
 */
record OwnersBatch(ApplicationTrace trace, int total) implements Batches {
    @Override
    public Batch choose(int nodes, int replicas) {
        return trace.split(total, replicas);
    }

    @Override
    public void observed(int nodes, int replicas, StepTable.Point step, GradientNoise noise) {
        // Nothing is learnt: the batch is given, and policies for which it is do not ask for goodput.
    }

    @Override
    public Optional<Goodput> goodput() {
        return Optional.empty();
    }
}

package io.lendstream.simulator.workload;

import io.lendstream.core.goodput.GradientNoise;

/**
 * How a training job really behaves: how long its steps take, how noisy its gradients are, and how much is to be done.
 */
public interface GroundTruth {
    StepTime stepTime(GpusByNode placement, int localBatch);

    /** How many epochs it trains. */
    int epochs();

    /**
     * Work done when an epoch is over, in iterations at the initial batch size.
     *
     * @param epoch from 0
     */
    double progressAfter(int epoch);

    /** Gradient statistics during an epoch at a total batch size. */
    GradientNoise noise(int epoch, int totalBatch);

    /** Work to be done in all. */
    default double totalProgress() {
        return progressAfter(epochs() - 1);
    }
}

package io.lendstream.core.policy;

/**
 * The speed of a job through its work. It assumes the total batch of its owner, and GPUs on as few nodes as possible.
 */
public interface Pace {
    /** Seconds of an iteration on {@code gpus} GPUs; at least 1. */
    double iterationSeconds(int gpus);

    /** Samples of an iteration on {@code gpus} GPUs: the chosen batch, rounded up to whole samples on each GPU. */
    int iterationSamples(int gpus);

    /** Iterations still to be done; above 0. */
    double remainingIterations();

    /** Whether the remaining work follows from a total that the job reported, and is not guessed. */
    default boolean isTotalKnown() {
        return true;
    }

    /** Seconds that remain if the job goes on with {@code gpus} GPUs. */
    default double remainingSeconds(int gpus) {
        return remainingIterations() * iterationSeconds(gpus);
    }

    /** Samples per second on {@code gpus} GPUs. */
    default double throughput(int gpus) {
        return gpus == 0 ? 0 : iterationSamples(gpus) / iterationSeconds(gpus);
    }
}

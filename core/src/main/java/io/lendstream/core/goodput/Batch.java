package io.lendstream.core.goodput;

/**
 * The parts of a job's total batch on its replicas.
 *
 * @param local samples of one replica in one step
 * @param accumulation steps that only accumulate gradients before the one that synchronises
 */
public record Batch(int local, int accumulation) {
    /** Total batch over {@code replicas}, in samples. */
    public int total(int replicas) {
        return replicas * local * (accumulation + 1);
    }
}

package io.lendstream.core.policy;

/** The goodput of a job on any number of GPUs, with the best batch for them. */
@FunctionalInterface
public interface Goodput {
    /**
     * Goodput on {@code gpus} over {@code nodes}, in samples of the initial batch per second; 0 where it cannot run.
     */
    double on(int nodes, int gpus);
}

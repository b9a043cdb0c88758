package io.lendstream.core.policy;

/** How much a job learns per second on any number of GPUs, with the batch that suits them best. */
@FunctionalInterface
public interface Goodput {
    /**
     * Goodput on {@code gpus} over {@code nodes}, in samples of the initial batch per second; 0 where it cannot run.
     */
    double on(int nodes, int gpus);
}

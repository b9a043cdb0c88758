package io.lendstream.benchmarks;

/** A benchmark that has read its options. */
@FunctionalInterface
interface Bench {
    /** Runs the benchmark; it prints its progress. */
    BenchReport measure();
}

package io.lendstream.benchmarks;

import java.util.List;
import java.util.Map;

/**
 * Figures by name: what was measured, what it is compared with, and the one over the other.
 *
 * @param misses bounds that were not kept, in words; with any, the command ends with 1
 */
record BenchReport(
        Map<String, Double> metrics, Map<String, Double> reference, Map<String, Double> ratio, List<String> misses) {
    /** Figures that are held to no bound. */
    BenchReport(Map<String, Double> metrics, Map<String, Double> reference, Map<String, Double> ratio) {
        this(metrics, reference, ratio, List.of());
    }
}

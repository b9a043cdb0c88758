package io.lendstream.benchmarks;

import java.util.List;
import java.util.Map;

/**
 * Figures by name: measured ones, reference ones, and their ratios.
 *
 * @param misses bounds that were exceeded, in words; with any, the command exits with 1
 */
record BenchReport(
        Map<String, Double> metrics, Map<String, Double> reference, Map<String, Double> ratio, List<String> misses) {
    /** Figures without bounds. */
    BenchReport(Map<String, Double> metrics, Map<String, Double> reference, Map<String, Double> ratio) {
        this(metrics, reference, ratio, List.of());
    }
}

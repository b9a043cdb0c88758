package io.lendstream.simulator.report;

import java.util.Optional;

/**
 * The figures of one run with one seed; empty where they are not known.
 *
 * @param jctSeconds average job completion time
 * @param gain reduction of it against the baseline of the same seed, a fraction
 * @param shareOfGain share of the possible gain, that of the oracle of the same seed
 * @param misses requests beyond their SLO, a fraction
 */
public record SeedFigures(
        long seed,
        Optional<Double> jctSeconds,
        Optional<Double> gain,
        Optional<Double> shareOfGain,
        Optional<Double> misses,
        double gpuHoursLent) {}

package io.lendstream.simulator.report;

import java.util.List;

/**
 * The figures of runs over several seeds.
 *
 * @param seeds the seeds that were replayed, in the order in which they were given
 * @param failures the seeds that failed; no figure is of them
 * @param allEqual whether every seed gave equal figures, as for a workload without anything drawn by the seed
 * @param rows a row a run: the no-lending baseline first, the oracle last
 */
public record SeedFacts(List<Long> seeds, List<SeedFailure> failures, boolean allEqual, List<SeedRow> rows) {
    public SeedFacts {
        seeds = List.copyOf(seeds);
        failures = List.copyOf(failures);
        rows = List.copyOf(rows);
    }
}

package io.lendstream.simulator.report;

import java.util.List;
import java.util.Optional;

/**
 * A run over several seeds. Gains and shares are paired with the references of the same seed.
 *
 * @param name the run, with its role where it is a reference
 * @param unfinished seeds with which not all jobs completed
 * @param jctSeconds average job completion times of the other seeds
 * @param gain reduction of the average job completion time against the baseline, a fraction; empty for the baseline
 * @param shareOfGain share of the possible gain; empty for the references
 * @param misses requests beyond their SLO, a fraction
 * @param gpuHoursLent GPU-hours lent
 */
public record SeedRow(
        String name,
        int unfinished,
        MeanInterval jctSeconds,
        Optional<MeanInterval> gain,
        Optional<MeanInterval> shareOfGain,
        MeanInterval misses,
        MeanInterval gpuHoursLent) {
    /**
     * The row of a run.
     *
     * @param each the figures of the run, a seed each
     */
    public static SeedRow of(String name, List<SeedFigures> each, boolean isBaseline, boolean isOracle) {
        return new SeedRow(
                name,
                (int) each.stream().filter(SeedFigures::isUnfinished).count(),
                interval(each.stream().map(SeedFigures::jctSeconds).toList()),
                isBaseline
                        ? Optional.empty()
                        : Optional.of(
                                interval(each.stream().map(SeedFigures::gain).toList())),
                isBaseline || isOracle
                        ? Optional.empty()
                        : Optional.of(interval(
                                each.stream().map(SeedFigures::shareOfGain).toList())),
                interval(each.stream().map(SeedFigures::misses).toList()),
                interval(each.stream()
                        .map(figures -> Optional.of(figures.gpuHoursLent()))
                        .toList()));
    }

    private static MeanInterval interval(List<Optional<Double>> sample) {
        return MeanInterval.of(sample.stream().flatMap(Optional::stream).toList());
    }
}

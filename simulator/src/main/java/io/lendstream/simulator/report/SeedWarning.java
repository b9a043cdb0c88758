package io.lendstream.simulator.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A warning about the runs of one seed.
 *
 * @param subject the run that it is about; empty for a warning about all runs of the seed
 */
public record SeedWarning(long seed, String subject, RunWarning warning) {
    /** A kind of warning. Warnings of a kind differ in their figures only. */
    private record Kind(RunWarning.Level level, String code, String subject) {}

    /**
     * One warning of each kind: that of the first seed that has it, with the number of other seeds that have it, too.
     *
     * @param seeds how many seeds were replayed
     */
    public static List<RunWarning> grouped(List<SeedWarning> warnings, int seeds) {
        Map<Kind, List<SeedWarning>> kinds = new LinkedHashMap<>();
        for (SeedWarning each : warnings) {
            Kind kind = new Kind(each.warning.level(), each.warning.code(), each.subject);
            kinds.computeIfAbsent(kind, any -> new ArrayList<>()).add(each);
        }
        return kinds.values().stream().map(same -> merged(same, seeds)).toList();
    }

    private static RunWarning merged(List<SeedWarning> same, int seeds) {
        SeedWarning first = same.get(0);
        if (seeds == 1) {
            return first.warning;
        }
        long more = same.stream().map(SeedWarning::seed).distinct().count() - 1;
        String having = more == 0
                ? "only seed %d of %d".formatted(first.seed, seeds)
                : "seed %d and %d more of %d".formatted(first.seed, more, seeds);
        return new RunWarning(
                first.warning.level(), first.warning.code(), "%s: %s".formatted(having, first.warning.text()));
    }
}

package io.lendstream.simulator.report;

import java.util.List;
import java.util.Optional;

/**
 * Remarks on the runs of a report.
 *
 * @param warnings the most serious first
 * @param baseline a description of the no-lending baseline, where one was played
 * @param seeds the figures over several seeds, where several were replayed
 */
public record Remarks(List<RunWarning> warnings, Optional<String> baseline, Optional<SeedFacts> seeds) {
    /** No remarks. */
    public static final Remarks NONE = new Remarks(List.of(), Optional.empty(), Optional.empty());

    public Remarks {
        warnings = warnings.stream()
                .sorted((one, other) -> other.level().compareTo(one.level()))
                .toList();
    }
}

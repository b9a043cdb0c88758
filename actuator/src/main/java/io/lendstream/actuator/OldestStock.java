package io.lendstream.actuator;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Finds GPUs whose first report on the topic is a stock with a tenant. The tenant got them before the oldest report
 * that the topic has.
 */
final class OldestStock {
    /** After such a report the tenant of its GPUs is known. */
    private static final Set<Outcome> TELLING =
            EnumSet.of(Outcome.HOLDS, Outcome.BOUND, Outcome.RELEASED, Outcome.FORCED, Outcome.FAILED);

    private final Set<GpuId> known = new HashSet<>();

    /**
     * Takes the next report of the topic.
     *
     * @return the part of a stock about GPUs that no report was about before; empty if there is none
     */
    Optional<ActuationReport> take(ActuationReport report) {
        if (!TELLING.contains(report.outcome())) {
            return Optional.empty();
        }
        List<GpuId> first = report.gpus().stream().filter(known::add).toList();
        return report.outcome() == Outcome.HOLDS && report.tenant().isPresent() && !first.isEmpty()
                ? Optional.of(Parts.part(report, first))
                : Optional.empty();
    }
}

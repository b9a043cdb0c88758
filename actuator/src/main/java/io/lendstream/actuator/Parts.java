package io.lendstream.actuator;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Splits reports with too many GPUs for one record. Each part repeats the report for some of the GPUs. Readers
 * process a report GPU by GPU, so the parts together mean the same as the whole. The exception is a regular report of
 * a driver that does not choose units: the scheduler counts its GPUs, so it is left out if it is too large.
 */
final class Parts {
    /** The most bytes of GPU names in a record: well below the broker's limit, also in the scheduler's log. */
    static final int MOST_BYTES = 256 << 10;

    private static final int OVERHEAD_BYTES = 4;

    private Parts() {}

    /** The report itself, if it is small enough. */
    static List<ActuationReport> of(ActuationReport report) {
        var parts = new ArrayList<ActuationReport>();
        int bytes = 0;
        int from = 0;
        for (int i = 0; i < report.gpus().size(); i++) {
            int more = report.gpus().get(i).value().getBytes(StandardCharsets.UTF_8).length + OVERHEAD_BYTES;
            if (bytes + more > MOST_BYTES && i > from) {
                parts.add(part(report, report.gpus().subList(from, i)));
                from = i;
                bytes = 0;
            }
            bytes += more;
        }
        if (from > 0 && isCounted(report)) {
            return List.of();
        }
        parts.add(
                from == 0
                        ? report
                        : part(report, report.gpus().subList(from, report.gpus().size())));
        return parts;
    }

    private static boolean isCounted(ActuationReport report) {
        return report.outcome() == Outcome.HOLDS && !report.placements().isEmpty();
    }

    /** The same report about some of its GPUs. */
    static ActuationReport part(ActuationReport report, List<GpuId> gpus) {
        Set<GpuId> named = Set.copyOf(gpus);
        return new ActuationReport(
                        report.domain(),
                        report.decision(),
                        report.actuator(),
                        report.at(),
                        report.outcome(),
                        gpus,
                        report.tenant(),
                        report.timings(),
                        report.reason(),
                        report.placements().stream()
                                .filter(placement -> named.contains(placement.named()))
                                .toList())
                .ofProgram(report.programFault());
    }
}

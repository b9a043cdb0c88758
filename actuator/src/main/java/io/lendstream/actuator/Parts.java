package io.lendstream.actuator;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.id.GpuId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reports on so many GPUs that one record cannot hold them, in parts that say the same of some of the GPUs each. Readers take what
 * a report says GPU by GPU, so that the parts together mean what the whole does.
 */
final class Parts {
    /** What the names of a record's GPUs may take: well below what a broker takes, also in the scheduler's log. */
    static final int MOST_BYTES = 256 << 10;

    private static final int OVERHEAD_BYTES = 4;

    private Parts() {}

    /** The report itself where it is small enough. */
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
        parts.add(
                from == 0
                        ? report
                        : part(report, report.gpus().subList(from, report.gpus().size())));
        return parts;
    }

    private static ActuationReport part(ActuationReport report, List<GpuId> gpus) {
        return new ActuationReport(
                report.domain(),
                report.decision(),
                report.actuator(),
                report.at(),
                report.outcome(),
                gpus,
                report.tenant(),
                report.timings(),
                report.reason());
    }
}

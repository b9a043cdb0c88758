package io.lendstream.core.history;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.state.ClusterState;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;

/** The log contains every report, as far as the log can be followed. */
final class ReportRule implements HistoryRule {
    private final Violations violations;
    private final LogRule log;
    private final Set<Integer> reportsInLog = new HashSet<>();
    /** Earlier reports are not judged, because the check began later. */
    private Instant start = Instant.MIN;

    ReportRule(Violations violations, LogRule log) {
        this.violations = violations;
        this.log = log;
    }

    /** Begins at a time. */
    void startAfter(Instant time) {
        start = time;
    }

    @Override
    public void before(DomainEvent event, ClusterState state) {
        event.event().asReport().ifPresent(report -> reportsInLog.add(report.hashCode()));
    }

    @Override
    public void heard(ActuationReport report) {
        if (!log.isBrokenOff() && report.at().isAfter(start) && !reportsInLog.contains(report.hashCode())) {
            violations.add(
                    Rule.REPORTS,
                    "the report %s on %s of %s is not in the log"
                            .formatted(report.outcome(), report.decision(), report.at()));
        }
    }
}

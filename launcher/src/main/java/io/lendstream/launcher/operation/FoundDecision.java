package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.id.DomainId;
import io.lendstream.launcher.cli.UserError;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Searches all decisions for one, and collects its reports. */
final class FoundDecision {
    private final DecisionId id;
    final ApprovalSearch approval;
    private final Map<DomainId, DecisionId> first = new TreeMap<>();
    private final Map<DomainId, DecisionId> last = new TreeMap<>();
    private Optional<Decision> found = Optional.empty();
    final List<ActuationReport> reports = new ArrayList<>();
    Instant latest = Instant.EPOCH;

    FoundDecision(DecisionId id) {
        this.id = id;
        this.approval = new ApprovalSearch(id);
    }

    void take(Decision decision) {
        approval.take(decision);
        DomainId domain = decision.id().domain();
        first.putIfAbsent(domain, decision.id());
        last.merge(domain, decision.id(), (one, other) -> one.compareTo(other) < 0 ? other : one);
        if (domain.equals(id.domain())) {
            latest = decision.at().isAfter(latest) ? decision.at() : latest;
        }
        if (found.isEmpty() && decision.id().equals(id)) {
            found = Optional.of(decision);
        }
    }

    void take(ActuationReport report) {
        if (report.domain().equals(id.domain())) {
            latest = report.at().isAfter(latest) ? report.at() : latest;
            if (report.decision().equals(id)) {
                reports.add(report);
            }
        }
    }

    boolean isFound() {
        return found.isPresent();
    }

    Decision wanted() {
        return found.orElseThrow(() -> UserError.failed(whatThereIs()));
    }

    private String whatThereIs() {
        DecisionId newest = last.get(id.domain());
        if (newest != null) {
            return "there is no decision %s; domain %s has decisions %s to %s."
                    .formatted(id, id.domain(), first.get(id.domain()), newest);
        }
        return last.isEmpty()
                ? "there is no decision %s: none has been made yet.".formatted(id)
                : "there is no decision %s: domain '%s' has no decisions. Domains with decisions: %s."
                        .formatted(id, id.domain(), last.keySet());
    }
}

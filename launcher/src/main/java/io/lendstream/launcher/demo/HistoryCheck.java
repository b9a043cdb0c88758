package io.lendstream.launcher.demo;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.state.Lease;
import io.lendstream.schemas.snapshot.SnapshotShelf;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.ArrayList;
import java.util.List;

/** Reads the history of a domain from its topics and checks it. */
final class HistoryCheck {
    private final Topics topics;
    private final DomainId domain;

    HistoryCheck(Topics topics, DomainId domain) {
        this.topics = topics;
        this.domain = domain;
    }

    /** Every published decision, in order. */
    List<Decision> decisions() {
        List<Decision> decisions = new ArrayList<>();
        topics.readAll(TopicCatalogue.DECISIONS, decision -> {
            if (decision.id().domain().equals(domain)) {
                decisions.add(decision);
            }
        });
        return decisions;
    }

    Verdict verdict(List<Decision> decisions) {
        List<Lease> leases = new ArrayList<>();
        topics.readAll(TopicCatalogue.LEASES, lease -> {
            if (lease.domain().equals(domain)) {
                leases.add(lease);
            }
        });
        // Before the log: it may grow until it is read.
        List<ActuationReport> reports = new ArrayList<>();
        topics.readAll(TopicCatalogue.ACTUATION_REPORTS, report -> {
            if (report.domain().equals(domain)) {
                reports.add(report);
            }
        });
        HistoryChecker checker = new HistoryChecker(domain);
        SnapshotShelf shelf = new SnapshotShelf();
        topics.readAll(TopicCatalogue.SNAPSHOTS, shelf::take);
        for (long sequence : shelf.sequences(domain)) {
            shelf.nearest(domain, sequence, note -> {}).ifPresent(checker::expect);
        }
        topics.readAll(TopicCatalogue.DOMAIN_EVENTS, event -> {
            if (event.domain().equals(domain)) {
                checker.take(event);
            }
        });
        reports.forEach(checker::heard);
        return checker.verdict(decisions, leases);
    }
}

package io.lendstream.launcher.operation;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.LendingExplainer;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.id.DomainId;
import io.lendstream.launcher.cli.UserError;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The logs of one domain or of all, replayed up to their ends. */
final class ReplayedLogs {
    private final Optional<DomainId> wanted;
    private final SortedMap<DomainId, LendingExplainer> logs = new TreeMap<>();

    /** @param wanted the domain; empty for all */
    ReplayedLogs(Optional<DomainId> wanted) {
        this.wanted = wanted;
    }

    /** Takes the snapshot of a domain after which its log is replayed. */
    void begin(Snapshot snapshot) {
        logs.computeIfAbsent(snapshot.domain(), LendingExplainer::new).after(snapshot);
    }

    /** Takes the next event of a log. */
    void take(DomainEvent event) {
        if (wanted.map(event.domain()::equals).orElse(true)) {
            logs.computeIfAbsent(event.domain(), LendingExplainer::new).take(event);
        }
    }

    /** The logs by domain; there is at least one. */
    SortedMap<DomainId, LendingExplainer> byDomain() {
        if (logs.isEmpty()) {
            throw UserError.failed(wanted.map(domain -> "domain '%s' has no log; check its name.".formatted(domain))
                    .orElse("no domain has a log yet: no scheduler has started."));
        }
        return logs;
    }
}

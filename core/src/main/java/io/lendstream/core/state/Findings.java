package io.lendstream.core.state;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.FoundTenant;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What an actuator has found on a node: things that run already, that it could manage, and that some selector claims.
 *
 * @param actuator who found it
 * @param since when it first reported what it finds there
 * @param at when it last did
 */
public record Findings(String actuator, Instant since, Instant at, List<Seen> seen) {
    /** The most that counts on a node, so that a state stays small. */
    private static final int MOST = 1000;

    public Findings {
        seen = List.copyOf(seen);
    }

    /**
     * Something that was found.
     *
     * @param since since when it is found, claimed by the same jobs and services
     */
    public record Seen(FoundTenant what, Instant since) {}

    /**
     * What a report says about a node, after what was known of it.
     *
     * @param found what the report finds on the node
     */
    public static Findings of(Optional<Findings> before, ActuationReport report, List<FoundTenant> found) {
        Optional<Findings> known = before.filter(earlier -> earlier.actuator.equals(report.actuator()));
        List<Seen> seen = found.stream()
                .limit(MOST)
                .map(each -> new Seen(
                        each,
                        known.flatMap(earlier -> earlier.find(each))
                                .map(Seen::since)
                                .orElse(report.at())))
                .toList();
        return new Findings(report.actuator(), known.map(Findings::since).orElse(report.at()), report.at(), seen);
    }

    private Optional<Seen> find(FoundTenant found) {
        return seen.stream()
                .filter(each -> each.what().user().equals(found.user())
                        && each.what().claimedBy().equals(found.claimedBy())
                        && each.what().workers().equals(found.workers()))
                .findFirst();
    }
}

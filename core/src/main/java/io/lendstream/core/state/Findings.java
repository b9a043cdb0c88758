package io.lendstream.core.state;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;

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
     * @param since since when it is found, claimed by the same jobs and services with the same selectors; when it is
     *     tried again, if it could not be taken over
     * @param late whether it came so long after its declaration that an operator has to ask for it
     */
    public record Seen(FoundTenant what, Instant since, boolean late) {}

    /** With a later try for everything that a tenant claims, as after a change of its selector. */
    public Findings tryingAgain(Tenant tenant, Instant later) {
        List<Seen> next = seen.stream()
                .map(each ->
                        each.what().claimedBy().contains(tenant) && each.since().isBefore(later)
                                ? new Seen(each.what(), later, each.late())
                                : each)
                .toList();
        return new Findings(actuator, since, at, next);
    }

    /**
     * What a report says about a node, after what was known of it. The first look stays the same if another actuator
     * takes the node over.
     *
     * @param found what the report finds on the node
     * @param isLate whether something that is new on a node is late, by the time of the first look at the node
     */
    public static Findings of(
            Optional<Findings> known,
            ActuationReport report,
            List<FoundTenant> found,
            BiPredicate<FoundTenant, Instant> isLate) {
        Instant first = known.map(Findings::since).orElse(report.at());
        List<Seen> seen = found.stream()
                .limit(MOST)
                .map(each -> known.flatMap(earlier -> earlier.find(each))
                        .map(earlier -> new Seen(each, earlier.since(), earlier.late()))
                        .orElseGet(() -> new Seen(each, report.at(), isLate.test(each, first))))
                .toList();
        return new Findings(report.actuator(), first, report.at(), seen);
    }

    private Optional<Seen> find(FoundTenant found) {
        return seen.stream()
                .filter(each -> each.what().user().equals(found.user())
                        && each.what().claimedBy().equals(found.claimedBy())
                        && each.what().workers().equals(found.workers()))
                .findFirst();
    }
}

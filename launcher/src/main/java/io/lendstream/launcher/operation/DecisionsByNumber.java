package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.DomainId;
import io.lendstream.launcher.cli.UserError;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Searches all decisions for the one with a number, in a cluster with one domain. */
final class DecisionsByNumber {
    private final long number;
    private final SortedSet<DecisionId> found = new TreeSet<>();
    private final SortedMap<DomainId, DecisionId> last = new TreeMap<>();

    DecisionsByNumber(String number) {
        this.number = Long.parseLong(number);
    }

    void take(Decision decision) {
        DecisionId id = decision.id();
        last.merge(id.domain(), id, (one, other) -> one.compareTo(other) < 0 ? other : one);
        if (id.sequence() == number) {
            found.add(id);
        }
    }

    /** The decision's ID. */
    DecisionId wanted() {
        if (last.isEmpty()) {
            throw UserError.failed("there is no decision %d: none has been made yet.".formatted(number));
        }
        if (last.size() > 1) {
            throw UserError.badUsage(
                    "ID is '%d', but there are %d domains (%s); name the decision as DOMAIN/EPOCH/SEQUENCE, such as %s/1/%d."
                            .formatted(
                                    number,
                                    last.size(),
                                    last.keySet().stream().map(DomainId::value).collect(Collectors.joining(", ")),
                                    last.firstKey(),
                                    number));
        }
        if (found.size() > 1) {
            throw UserError.badUsage("ID is '%d', but several epochs have such a decision: %s. Name one of them."
                    .formatted(number, found.stream().map(DecisionId::toString).collect(Collectors.joining(", "))));
        }
        return found.stream()
                .findFirst()
                .orElseThrow(() -> UserError.failed("there is no decision %d; the last of domain %s is %s."
                        .formatted(
                                number,
                                last.firstKey(),
                                last.values().iterator().next())));
    }
}

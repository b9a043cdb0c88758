package io.lendstream.core.state;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.RequestedChange;
import io.lendstream.core.id.DomainId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The advice that stands: decisions that were only advised, and may be approved yet. A plan that proposes the same
 * again leaves a decision as it is, with its ID and its time.
 *
 * @param decisions oldest first
 */
public record Advice(List<Decision> decisions) {
    /** Bounds the size of the state. The next plan advises again what was forgotten and still applies. */
    private static final int MOST = 100;

    public Advice {
        decisions = List.copyOf(decisions);
    }

    /** With newer ones, for which the oldest may be forgotten. */
    public Advice with(List<Decision> newer) {
        List<Decision> all = new ArrayList<>(decisions);
        all.addAll(newer);
        return new Advice(all.subList(Math.max(0, all.size() - MOST), all.size()));
    }

    /** The part of it that a plan proposes again; the rest no longer applies. */
    public Advice proposedAgain(List<Decision> proposed) {
        return new Advice(among(decisions, changes(proposed), true));
    }

    /** The proposed decisions that are not advised already, in their order. */
    public List<Decision> newAmong(List<Decision> proposed) {
        return among(proposed, changes(decisions), false);
    }

    /** The newest decision that asks for the same change as a proposal. */
    public Optional<Decision> standing(Decision proposed) {
        return among(decisions, changes(List.of(proposed)), true).stream().reduce((older, newer) -> newer);
    }

    /** The decisions with the sequence numbers that follow a number. */
    public static List<Decision> numbered(List<Decision> decisions, DomainId domain, long epoch, long last) {
        List<Decision> numbered = new ArrayList<>();
        for (Decision decision : decisions) {
            numbered.add(decision.numbered(new DecisionId(domain, epoch, last + numbered.size() + 1)));
        }
        return numbered;
    }

    private static List<Decision> among(List<Decision> all, Set<RequestedChange> changes, boolean included) {
        return all.stream()
                .filter(decision -> changes.contains(RequestedChange.of(decision)) == included)
                .toList();
    }

    private static Set<RequestedChange> changes(List<Decision> decisions) {
        return decisions.stream().map(RequestedChange::of).collect(Collectors.toSet());
    }

    public Optional<Decision> find(DecisionId id) {
        return decisions.stream().filter(decision -> decision.id().equals(id)).findFirst();
    }
}

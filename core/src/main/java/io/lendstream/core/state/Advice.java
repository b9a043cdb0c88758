package io.lendstream.core.state;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Decisions that were only advised, and may be approved yet.
 *
 * @param decisions oldest first
 */
public record Advice(List<Decision> decisions) {
    /** What people look through; older advice has been given again since, where it still holds. */
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

    public Optional<Decision> find(DecisionId id) {
        return decisions.stream().filter(decision -> decision.id().equals(id)).findFirst();
    }
}

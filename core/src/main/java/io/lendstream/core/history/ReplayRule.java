package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The log replayed through the core gives exactly the decisions that were published. */
final class ReplayRule implements HistoryRule {
    private final Violations violations;

    ReplayRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void end(HistoryEnd end) {
        List<Decision> replayed = end.replayed();
        Map<DecisionId, Decision> seen = new LinkedHashMap<>();
        for (Decision decision : end.published()) {
            Decision earlier = seen.putIfAbsent(decision.id(), decision);
            if (earlier != null && !earlier.equals(decision)) {
                violations.add(
                        Rule.REPLAY,
                        "decision %s was published twice, with different contents".formatted(decision.id()));
            }
        }
        List<Decision> once = List.copyOf(seen.values());
        for (int i = 0; i < Math.max(once.size(), replayed.size()); i++) {
            Optional<Decision> was = i < once.size() ? Optional.of(once.get(i)) : Optional.empty();
            Optional<Decision> is = i < replayed.size() ? Optional.of(replayed.get(i)) : Optional.empty();
            if (!was.equals(is)) {
                violations.add(
                        Rule.REPLAY, "decision %d was published as %s, but the log gives %s".formatted(i + 1, was, is));
                return;
            }
        }
    }
}

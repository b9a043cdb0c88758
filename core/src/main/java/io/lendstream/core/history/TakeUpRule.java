package io.lendstream.core.history;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.state.ClusterState;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Every decision is taken up once, and none of an old epoch after one of a newer. */
final class TakeUpRule implements HistoryRule {
    private final Violations violations;
    private final Map<String, Map<DecisionId, Instant>> takenUp = new TreeMap<>();

    TakeUpRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void before(DomainEvent event, ClusterState state) {
        event.event().asReport().ifPresent(this::heard);
    }

    /** The same report may come twice; a decision is taken up once, and so at one time. */
    @Override
    public void heard(ActuationReport report) {
        if (report.outcome() != Outcome.ACCEPTED) {
            return;
        }
        Instant before = takenUp.computeIfAbsent(report.actuator(), name -> new HashMap<>())
                .putIfAbsent(report.decision(), report.at());
        if (before != null && !before.equals(report.at())) {
            violations.add(
                    Rule.APPLIED_TWICE,
                    "decision %s was taken up by %s at %s and again at %s"
                            .formatted(report.decision(), report.actuator(), before, report.at()));
        }
    }

    /** What an actuator takes up goes up in epoch and sequence, by its own clock. */
    @Override
    public void end(HistoryEnd end) {
        takenUp.forEach((actuator, times) -> {
            List<Map.Entry<DecisionId, Instant>> inTime = times.entrySet().stream()
                    .sorted(Map.Entry.<DecisionId, Instant>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                    .toList();
            for (int i = 1; i < inTime.size(); i++) {
                DecisionId before = inTime.get(i - 1).getKey();
                DecisionId after = inTime.get(i).getKey();
                if (after.compareTo(before) < 0) {
                    violations.add(Rule.FENCE, "%s took up decision %s after %s".formatted(actuator, after, before));
                }
            }
        });
    }
}

package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;

/** Every decision is answered or timed out, and every release is reported or its GPU is put out of service. */
final class AnswerRule implements HistoryRule {
    /** Time beyond its deadline in which a decision may still be answered before that counts as silence. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Violations violations;
    private final Set<DecisionId> answered = new HashSet<>();
    private final Set<DecisionId> undone = new HashSet<>();

    AnswerRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void before(DomainEvent event, ClusterState state) {
        event.event()
                .asReport()
                .filter(report -> report.outcome() != Outcome.HOLDS)
                .ifPresent(report -> answered.add(report.decision()));
    }

    @Override
    public void take(ReplayedEvent replayed) {
        if (replayed.hasQuarantined()) {
            // Steps that run on it will not be answered.
            replayed.decisions().forEach(decision -> undone.add(decision.id()));
        }
    }

    @Override
    public void end(HistoryEnd end) {
        allAnswered(end);
        allReleased(end.state());
    }

    private void allAnswered(HistoryEnd end) {
        Instant now = end.state().now();
        for (Decision decision : end.replayed()) {
            boolean asks = !decision.action().isHold() && !decision.advisory();
            boolean due = decision.deadline().plus(PATIENCE).isBefore(now);
            if (asks && due && !answered.contains(decision.id()) && !undone.contains(decision.id())) {
                violations.add(
                        Rule.ANSWER,
                        "decision %s (%s) was due at %s and no actuator reported on it"
                                .formatted(decision.id(), decision.action().kind(), decision.deadline()));
            }
        }
    }

    /**
     * A release that is not reported in time puts its GPU out of service, until an operator resets it. So no reclaim is
     * forgotten.
     */
    private void allReleased(ClusterState state) {
        for (GpuState gpu : state.gpus().values()) {
            gpu.owner()
                    .asReleasing()
                    .filter(releasing -> releasing.alarmAt().plus(PATIENCE).isBefore(state.now()))
                    .ifPresent(releasing -> violations.add(
                            Rule.RELEASE,
                            "decision %2$s had to release %1$s until %3$s, and there was no alarm when it did not"
                                    .formatted(gpu.gpuId(), releasing.decision(), releasing.by())));
        }
    }
}

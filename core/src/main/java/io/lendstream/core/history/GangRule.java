package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;

/** Every state is sound, and no decision gives a job fewer GPUs than it can run on. */
final class GangRule implements HistoryRule {
    private final Violations violations;
    private final Gangs gangs = new Gangs();

    GangRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void take(ReplayedEvent replayed) {
        boolean mayDecide = replayed.scheduler()
                .decidesFrom()
                .filter(replayed.state().now()::isBefore)
                .isEmpty();
        gangs.follow(replayed.state(), replayed.event().event(), mayDecide);
        if (!replayed.changed().owners().isEmpty() || !replayed.changed().jobs().isEmpty()) {
            Invariants.check(replayed.state(), gangs.broken()).forEach(violations::add);
        }
    }

    @Override
    public void decided(Decision decision, ReplayedEvent replayed) {
        gangs.check(decision, replayed.state()).ifPresent(violations::add);
    }
}

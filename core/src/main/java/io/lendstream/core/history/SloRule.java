package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.id.Pool;
import io.lendstream.core.scheduler.SloRules;
import io.lendstream.core.state.GpuState;

/** No GPU is lent that a service left which missed its SLO a short time ago. */
final class SloRule implements HistoryRule {
    private final Violations violations;

    SloRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void decided(Decision decision, ReplayedEvent replayed) {
        if (decision.action().asLend().isPresent()) {
            decision.action().gpus().stream()
                    .flatMap(id -> replayed.state().gpus().get(id).stream())
                    .filter(unit -> unit.pool() == Pool.INFERENCE && isWithheld(unit, replayed))
                    .forEach(unit -> violations.add(
                            Rule.SLO,
                            "decision %s lends %s, which %s left: this service missed its SLO a short time ago"
                                    .formatted(
                                            decision.id(),
                                            unit.gpuId(),
                                            unit.lastService().orElseThrow())));
        }
    }

    private static boolean isWithheld(GpuState unit, ReplayedEvent replayed) {
        SloRules rules = replayed.scheduler().settings().changeLimits().slo();
        return unit.lastService()
                .flatMap(replayed.state().services()::get)
                .filter(service -> rules.withhold(service, replayed.state().now()))
                .isPresent();
    }
}

package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import java.util.List;

/** No more is lent than allowed. MIG instances do not count: they are lent by another rule. */
final class CapRule implements HistoryRule {
    private final Violations violations;

    CapRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void decided(Decision decision, ReplayedEvent replayed) {
        if (decision.action().asLend().isEmpty()) {
            return;
        }
        List<GpuState> inference = replayed.state().gpus().stream()
                .filter(gpu -> gpu.pool() == Pool.INFERENCE
                        && gpu.isWhole()
                        && !gpu.owner().isForeign())
                .toList();
        long lent = inference.stream().filter(gpu -> isLent(gpu.owner())).count();
        double share = replayed.scheduler().settings().changeLimits().maxShareLent();
        if (lent > Math.floor(share * inference.size())) {
            violations.add(
                    Rule.CAP,
                    "with decision %s, %d of %d inference GPUs are lent, more than the share of %s"
                            .formatted(decision.id(), lent, inference.size(), share));
        }
    }

    private static boolean isLent(Owner owner) {
        return owner.isLent() || owner.asBinding().flatMap(Owner.Binding::until).isPresent();
    }
}

package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.GpuState;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Units that are lent together have tenants of one side only: no decision gives one to a job while a service has
 * another, or to a service while a job takes, has or leaves another.
 */
final class BundleRule implements HistoryRule {
    private final Violations violations;

    BundleRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void settled(ReplayedEvent replayed) {
        ClusterEntities entities = replayed.state().entities();
        if (!entities.scopes().hasBundles() || replayed.decisions().isEmpty()) {
            return;
        }
        Set<DecisionId> decisions =
                replayed.decisions().stream().map(Decision::id).collect(Collectors.toSet());
        for (GpuId id : replayed.changed().owners()) {
            entities.gpus()
                    .get(id)
                    .filter(unit -> unit.owner()
                            .asBinding()
                            .filter(binding -> decisions.contains(binding.decision()))
                            .isPresent())
                    .ifPresent(unit -> check(entities, unit, replayed));
        }
    }

    private void check(ClusterEntities entities, GpuState unit, ReplayedEvent replayed) {
        Optional<String> bundle = entities.bundleOf(unit);
        if (bundle.isEmpty()) {
            return;
        }
        for (GpuState other : entities.gpus().values()) {
            boolean isOfOtherSide = other.owner().holder().isPresent()
                    && other.isTraining() != unit.isTraining()
                    && entities.bundleOf(other).equals(bundle);
            if (isOfOtherSide) {
                violations.add(
                        Rule.BUNDLE,
                        "event %d gave %s to %s, while %s of %s is %s"
                                .formatted(
                                        replayed.event().sequence(),
                                        unit.gpuId(),
                                        unit.owner().holder().orElseThrow(),
                                        other.gpuId(),
                                        bundle.get(),
                                        other.owner().label()));
                return;
            }
        }
    }
}

package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.SlicePlan;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Serves services with known latency on MIG instances: plans the cuts, and decides the next stage from the present
 * instances. It keeps only the plan, so that faults, late reports and restarts need no special handling.
 *
 * <p>New instances are made as soon as their place has no tenant; loans in that place are taken back. An instance
 * drains after all new instances that must come first have come. A GPU that the plan empties leaves MIG mode, or
 * becomes one instance of its full size if its mode may not be switched. It can then be lent.
 */
final class Repartitioning {
    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final Latencies latencies;
    private final Safety safety;

    Repartitioning(StepBuilder builder, Policy policy, SchedulerSettings settings, Latencies latencies) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.latencies = latencies;
        this.safety = new Safety(settings);
    }

    /** Makes a new plan of instances if it is time, and decides the next stage of the way to the plan in force. */
    void advance() {
        if (!settings.repartition() || safety.againstChanges(builder).isPresent()) {
            return;
        }
        SlicePlanning planning = new SlicePlanning(builder, policy, settings, latencies);
        boolean due = planning.isDue();
        Optional<CuttableGpus> gpus = CuttableGpus.of(builder).map(each -> each.withoutShaped(builder.services()));
        if (due) {
            planning.plan(gpus);
            holdIfUnable();
        }
        if (builder.slices().isEmpty()) {
            return;
        }
        SlicePlan plan = builder.slices().get();
        if (gpus.isPresent() && gpus.get().kind().model().equals(plan.model())) {
            new RepartitioningStage(builder, settings, gpus.get().servingOnly(plan.services()), plan).decide(due);
        }
    }

    /** Decides a hold if the plan has fewer GPUs than there are, because drivers cannot cut the others. */
    private void holdIfUnable() {
        Set<String> names = CuttableGpus.unable(builder);
        if (builder.slices().isPresent() && !names.isEmpty()) {
            String text = "the plan of MIG instances leaves GPUs out: actuator %s does not change MIG instances there"
                    .formatted(String.join(", ", names));
            builder.decide(
                    builder.now(),
                    builder.because(ReasonCode.ABILITY, text, Map.of(), List.of()),
                    Action.Hold.without(Abilities.MIG));
        }
    }
}

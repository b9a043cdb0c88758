package io.lendstream.core.scheduler;

import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.SlicePlan;
import java.util.Optional;

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
        Optional<CuttableGpus> gpus = CuttableGpus.of(builder);
        if (due) {
            planning.plan(gpus);
        }
        if (builder.slices().isEmpty()) {
            return;
        }
        SlicePlan plan = builder.slices().get();
        if (gpus.isPresent() && gpus.get().kind().model().equals(plan.model())) {
            new RepartitioningStage(builder, settings, gpus.get().servingOnly(plan.services()), plan).decide(due);
        }
    }
}

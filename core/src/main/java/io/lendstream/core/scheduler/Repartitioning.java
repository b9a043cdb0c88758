package io.lendstream.core.scheduler;

import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.SlicePlan;
import java.util.Optional;

/**
 * Serves services whose latency is known on MIG instances: plans the cuts, and decides the next stage of the way there
 * from what is there now. It remembers the plan and nothing of the way, so that faults, late reports and restarts need
 * no care.
 *
 * <p>Instances that are to come are made as soon as nobody is in their place; loans that are in it are taken back. An
 * instance drains when all that is to come before it has come. A GPU that the plan empties leaves MIG mode, or where
 * that may not be switched becomes one instance as large as it is, and can be lent.
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

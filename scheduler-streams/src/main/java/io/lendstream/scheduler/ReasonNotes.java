package io.lendstream.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.scheduler.StepListener;
import java.util.ArrayList;
import java.util.List;

/** What a policy was asked in a step, to weigh its alternatives later. Taking these notes computes nothing. */
final class ReasonNotes implements StepListener {
    private final List<ClusterView> plans = new ArrayList<>();
    private final List<Taking> takings = new ArrayList<>();

    /** Loans that were taken back. */
    record Taking(ClusterView view, int count, List<GpuId> victims) {}

    @Override
    public void planned(ClusterView view, Plan plan) {
        plans.add(view);
    }

    @Override
    public void reclaimed(ClusterView view, int count, List<GpuId> victims) {
        takings.add(new Taking(view, count, List.copyOf(victims)));
    }

    /** The views of the plans: one, or one for each kind of GPU. */
    List<ClusterView> plans() {
        return plans;
    }

    List<Taking> takings() {
        return takings;
    }
}

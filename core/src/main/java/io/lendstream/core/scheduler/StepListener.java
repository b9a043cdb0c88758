package io.lendstream.core.scheduler;

import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Plan;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** Receives the facts behind a step, so that the step can be explained. The step is the same without it. */
public interface StepListener {
    /** No listener. */
    StepListener NONE = new StepListener() {};

    /**
     * A step begins to decide.
     *
     * @param rules their present state; to be read at once or never
     */
    default void rulesStand(Supplier<List<SafetyRule>> rules) {}

    /** The needs of services. */
    default void needed(Map<ServiceId, ReplicaNeed> needs) {}

    /**
     * Loans are taken back for inference.
     *
     * @param count GPUs that inference lacks beside those in transfer
     */
    default void reclaimed(ClusterView view, int count, List<GpuId> victims) {}

    /** There is no job to plan for. */
    default void jobless() {}

    /** No plan of training is made. */
    default void unplanned(String why) {}

    /** A plan of training is made that may lend nothing more. */
    default void unlendable(String why) {}

    /**
     * The policy is shown GPUs of inference that it may lend.
     *
     * @param kept idle GPUs that are hidden from it; may be empty
     * @param why they stay with inference
     */
    default void reserved(Set<GpuId> kept, String why) {}

    /** A free MIG instance is lent to no job, or no policy is shown an idle GPU. */
    default void unlent(GpuId unit, String why) {}

    /** Training was planned. */
    default void planned(ClusterView view, Plan plan) {}

    /** A job does not get what the plan gives it. */
    default void vetoed(JobId job, String why) {}
}

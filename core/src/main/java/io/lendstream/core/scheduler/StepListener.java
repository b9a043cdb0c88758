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

/** Looks on while a step is made, so that it can be explained. A step asks it nothing, and is the same without it. */
public interface StepListener {
    /** Nobody looks on. */
    StepListener NONE = new StepListener() {};

    /**
     * A step begins to decide.
     *
     * @param rules how they stand; to be asked at once or never
     */
    default void rulesStand(Supplier<List<SafetyRule>> rules) {}

    /** What services need. */
    default void needed(Map<ServiceId, ReplicaNeed> needs) {}

    /**
     * Loans are taken back for inference.
     *
     * @param count GPUs that it lacks beside those that are on their way
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
     * @param kept idle ones that it is not shown; may be empty
     * @param why they stay with inference
     */
    default void reserved(Set<GpuId> kept, String why) {}

    /** A free MIG instance is lent to no job. */
    default void unlent(GpuId instance, String why) {}

    /** Training was planned. */
    default void planned(ClusterView view, Plan plan) {}

    /** A job does not get what the plan gives it. */
    default void vetoed(JobId job, String why) {}
}

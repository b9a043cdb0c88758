package io.lendstream.core.policy.reclaim;

import io.lendstream.core.policy.JobView;

/** How fast a job is with some GPUs, in a unit in which the losses of several jobs can be compared. */
public interface SpeedMeasure {
    /**
     * The speed of a job.
     *
     * @param nodes nodes that its GPUs are on
     * @param gpus GPUs, 0 or more
     */
    double speed(JobView job, int nodes, int gpus);

    /** What a speed of 1 is, for people: {@code the speed of a job with a fair share}. */
    String unit();
}

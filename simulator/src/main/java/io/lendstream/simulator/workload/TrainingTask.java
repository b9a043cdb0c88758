package io.lendstream.simulator.workload;

import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.JobId;

/**
 * A training job to arrive.
 *
 * @param job what its owner submits
 * @param truth its real behaviour, which policies do not know
 */
public record TrainingTask(TrainingJob job, GroundTruth truth, JobOutcome fate) {
    /** A job that finishes. */
    public TrainingTask(TrainingJob job, GroundTruth truth) {
        this(job, truth, JobOutcome.FINISHES);
    }

    /** The same job with another fate. */
    public TrainingTask meeting(JobOutcome other) {
        return new TrainingTask(job, truth, other);
    }

    TrainingTask named(String name) {
        if (job.job().value().equals(name)) {
            return this;
        }
        return new TrainingTask(job.named(new JobId(name)), truth, fate);
    }
}

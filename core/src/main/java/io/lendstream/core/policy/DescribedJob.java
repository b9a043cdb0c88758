package io.lendstream.core.policy;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.state.QueuePosition;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A fully described job, for uses of policies outside the scheduler. */
public record DescribedJob(
        JobId job,
        Instant submittedAt,
        TrainingJob.Scaling scaling,
        List<GpuId> gpus,
        Usage usage,
        Optional<Goodput> goodput,
        Pace pace,
        Optional<QueuePosition> standing,
        RescaleCosts costs)
        implements JobView {
    public DescribedJob {
        gpus = List.copyOf(gpus);
    }

    /**
     * The GPUs that it has had so far.
     *
     * @param largestRun most GPUs it has trained on
     * @param changes how often its GPUs were changed after its first start
     * @param attainedGpuSeconds GPU time given to it, in GPU-seconds
     */
    public record Usage(int largestRun, int changes, double attainedGpuSeconds) {
        /** Of a job that has not run yet. */
        public static final Usage NONE = new Usage(0, 0, 0);
    }

    @Override
    public int requestedGpus() {
        return scaling.requestedGpus();
    }

    @Override
    public int minGpus() {
        return scaling.minGpus();
    }

    @Override
    public int maxGpus() {
        return scaling.maxGpus();
    }

    @Override
    public boolean elastic() {
        return scaling.elastic();
    }

    @Override
    public int largestRun() {
        return usage.largestRun;
    }

    @Override
    public int changes() {
        return usage.changes;
    }

    @Override
    public double attainedGpuSeconds() {
        return usage.attainedGpuSeconds;
    }
}

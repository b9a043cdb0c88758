package io.lendstream.core.policy;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.state.QueuePosition;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A job of which everything is said, for policies that plan for others than our scheduler. */
public record DescribedJob(
        JobId job,
        Instant submittedAt,
        int requestedGpus,
        int minGpus,
        int maxGpus,
        boolean elastic,
        List<GpuId> gpus,
        int largestRun,
        int changes,
        double attainedGpuSeconds,
        Optional<Goodput> goodput,
        Pace pace,
        Optional<QueuePosition> standing,
        RescaleCosts costs)
        implements JobView {
    public DescribedJob {
        gpus = List.copyOf(gpus);
    }
}

package io.lendstream.core.state;

import io.lendstream.core.event.Limits;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The GPUs that a job has had so far.
 *
 * @param largestRun most GPUs it has trained on
 * @param changes how often its GPUs were changed after its first start
 * @param attainedGpuSeconds GPU time it has been given up to {@code attainedUpTo}
 * @param startedAt when it was first given GPUs
 */
public record JobUsage(
        int largestRun, int changes, double attainedGpuSeconds, Instant attainedUpTo, Optional<Instant> startedAt) {
    static JobUsage none(Instant submittedAt) {
        return new JobUsage(0, 0, 0, submittedAt, Optional.empty());
    }

    /** GPU time up to {@code now}, in GPU-seconds, where a job has held the same since the last count. */
    double attainedBy(Instant now, JobGrant held) {
        double more = Math.max(0, Limits.millis(Duration.between(attainedUpTo, now)) / 1000.0);
        return attainedGpuSeconds + more * held.gpus() * held.sliceShare().orElse(1.0);
    }

    /** With the time counted in which a job held this. */
    JobUsage counted(Instant now, JobGrant held) {
        return new JobUsage(largestRun, changes, attainedBy(now, held), now, startedAt);
    }

    /** With GPUs given at {@code now}: its first, or others than before. */
    JobUsage given(Instant now, boolean others) {
        return new JobUsage(
                largestRun,
                startedAt.isPresent() && others ? changes + 1 : changes,
                attainedGpuSeconds,
                attainedUpTo,
                startedAt.or(() -> Optional.of(now)));
    }

    JobUsage running(int gpus) {
        return new JobUsage(Math.max(largestRun, gpus), changes, attainedGpuSeconds, attainedUpTo, startedAt);
    }
}

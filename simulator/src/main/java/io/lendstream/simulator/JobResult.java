package io.lendstream.simulator;

import io.lendstream.core.event.JobPhase;
import io.lendstream.core.id.JobId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * What became of a training job.
 *
 * @param started when it was first given GPUs
 * @param completed when it was over, however it ended
 * @param restarts how often its GPUs were changed after that, other than to none
 * @param gpuSeconds GPU time it held until it was done
 * @param done share of its work that is done
 * @param phase how it ended, or where it stands
 */
public record JobResult(
        JobId job,
        String application,
        Instant submitted,
        Optional<Instant> started,
        Optional<Instant> completed,
        int restarts,
        double gpuSeconds,
        double done,
        JobPhase phase) {
    /** From submission to completion. */
    public Optional<Duration> completionTime() {
        return completed.map(at -> Duration.between(submitted, at));
    }
}

package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import java.time.Instant;
import java.util.Optional;

/**
 * What a training job says of itself.
 *
 * @param progress work done, in iterations at the initial batch size
 * @param totalProgress work to be done in all, where known
 * @param nodes nodes it runs on; 0 while it does not run
 * @param replicas GPUs it runs on
 * @param localBatch batch of one replica and step, in samples
 * @param accumulation gradient accumulation steps before a synchronised one
 * @param stepSeconds time of a synchronised step, synchronisation included
 * @param syncSeconds part of it spent waiting for synchronisation
 * @param gradientSquared squared norm of the mean gradient
 * @param gradientVariance variance of the gradient of one sample batch of the initial size
 */
public record TrainingProgress(
        JobId job,
        DomainId domain,
        Instant at,
        JobPhase phase,
        double progress,
        Optional<Double> totalProgress,
        int nodes,
        int replicas,
        int localBatch,
        int accumulation,
        Optional<Double> stepSeconds,
        Optional<Double> syncSeconds,
        Optional<Double> gradientSquared,
        Optional<Double> gradientVariance)
        implements Event {
    public TrainingProgress {
        Checks.notNegative("progress", progress);
        Checks.notNegative("totalProgress", totalProgress);
        Checks.atLeast("nodes", 0, nodes);
        Checks.atLeast("replicas", 0, replicas);
        Checks.atLeast("localBatch", 0, localBatch);
        Checks.atLeast("accumulation", 0, accumulation);
        Checks.notNegative("stepSeconds", stepSeconds);
        Checks.notNegative("syncSeconds", syncSeconds);
        Checks.notNegative("gradientSquared", gradientSquared);
        Checks.notNegative("gradientVariance", gradientVariance);
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.progress(this);
    }
}

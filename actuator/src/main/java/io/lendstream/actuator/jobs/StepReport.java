package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;

/**
 * A job's report on its training, about once a second.
 *
 * @param step steps completed
 * @param progress completed work, in iterations at the initial batch size
 * @param totalProgress total work, in the same unit
 * @param replicas workers that compute
 * @param localBatch samples that a worker computes at once
 * @param accumulation number of such batches in a worker's part of a step
 * @param stepSeconds duration of the last step, synchronisation included
 * @param syncSeconds part of it spent waiting for synchronisation
 * @param gradientSquared squared norm of the mean gradient, as smoothed by the job
 * @param gradientVariance variance of the gradient of one batch of the initial size, as smoothed by the job
 */
public record StepReport(
        long step,
        double progress,
        double totalProgress,
        int replicas,
        int localBatch,
        int accumulation,
        double stepSeconds,
        double syncSeconds,
        Optional<Double> gradientSquared,
        Optional<Double> gradientVariance) {

    /** Reads the message {@code progress} of a worker. */
    static StepReport of(JsonNode message) {
        return new StepReport(
                message.path("step").asLong(),
                message.path("progress").asDouble(),
                message.path("totalProgress").asDouble(),
                message.path("replicas").asInt(),
                message.path("localBatch").asInt(),
                message.path("accumulation").asInt(),
                message.path("stepSeconds").asDouble(),
                message.path("syncSeconds").asDouble(),
                number(message.path("gradientSquared")),
                number(message.path("gradientVariance")));
    }

    private static Optional<Double> number(JsonNode value) {
        return value.isNumber() ? Optional.of(value.asDouble()) : Optional.empty();
    }
}

package io.lendstream.core.goodput;

import io.lendstream.core.id.Checks;
import java.util.Optional;

/**
 * The batch sizes a job may train with, in samples.
 *
 * @param initial total batch it was tuned for
 * @param max largest total batch
 * @param localMin smallest batch of one replica
 * @param localMax largest batch that fits one GPU
 * @param fixed total batch that must not be changed, if so
 */
public record BatchRange(int initial, int max, int localMin, int localMax, Optional<Integer> fixed) {
    public BatchRange {
        Checks.atLeast("initial batch", 1, initial);
        Checks.atLeast("max batch", initial, max);
        Checks.atLeast("localMin batch", 1, localMin);
        Checks.atLeast("localMax batch", localMin, localMax);
        fixed.ifPresent(batch -> Checks.atLeast("fixed batch", 1, batch));
    }
}

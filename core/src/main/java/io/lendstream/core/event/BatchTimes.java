package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.KindId;
import java.util.Optional;

/**
 * The times of batches of one size in a window. They are the difference of two readings of Triton's
 * {@code batch_stats}.
 *
 * @param profile MIG profile of the instance; empty for a whole GPU
 * @param batch inputs in each, padded ones included
 * @param size to which inputs were padded, in the service's own unit (tokens, pixels); 0 or 1 where all are alike, at
 *     most a thousand million
 * @param count how many batches; at least 1
 * @param meanMillis that one took; above 0
 * @param kind of the GPU; only needed where a service runs on several kinds
 */
public record BatchTimes(
        Optional<String> profile, int batch, double size, long count, double meanMillis, Optional<KindId> kind) {
    private static final double LARGEST = 1e9;

    /** Batches on a GPU of the kind that all replicas of the service have. */
    public BatchTimes(Optional<String> profile, int batch, double size, long count, double meanMillis) {
        this(profile, batch, size, count, meanMillis, Optional.empty());
    }

    public BatchTimes {
        Checks.atLeast("batch", 1, batch);
        Checks.notNegative("size", size);
        Checks.atLeast("count", 1, count);
        Checks.notNegative("meanMillis", meanMillis);
        if (size > LARGEST || meanMillis == 0) {
            throw new IllegalArgumentException(
                    "inputs must have a size of at most %.0f and batches must take more than 0 ms, but were %s and %s"
                            .formatted(LARGEST, size, meanMillis));
        }
    }

    /** The same on a kind of GPU. */
    public BatchTimes on(KindId other) {
        return new BatchTimes(profile, batch, size, count, meanMillis, Optional.of(other));
    }
}

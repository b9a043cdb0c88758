package io.lendstream.core.batching;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Keeps the batches of a service in time. If the service was late although the model predicted otherwise, its batches
 * shrink by a tenth. After five minutes they grow again, by one for each window in time.
 *
 * @param judgedAt when the p99 was last compared with the objective
 * @param share of the largest batches that the model allows; at most 1
 * @param lateAt when the p99 last was above the objective
 * @param p99Seconds the longest that a source has reported since
 */
public record BatchingGuard(Instant judgedAt, double share, Optional<Instant> lateAt, Optional<Double> p99Seconds) {
    private static final double KEPT = .9;
    /**
     * The time after a late window in which batches do not grow and requests do not wait for others, because each
     * attempt may cause another late window.
     */
    private static final Duration CALM = Duration.ofMinutes(5);

    public BatchingGuard {
        if (!(share > 0 && share <= 1)) {
            throw new IllegalArgumentException("the share of batches must be above 0 and at most 1, but is " + share);
        }
    }

    static BatchingGuard fresh(Instant at) {
        return new BatchingGuard(at, 1, Optional.empty(), Optional.empty());
    }

    /** With what one source saw in a window. */
    BatchingGuard heard(Optional<Double> seconds) {
        boolean longer = seconds.isPresent() && seconds.get() > p99Seconds.orElse(-1.0);
        return longer ? new BatchingGuard(judgedAt, share, lateAt, seconds) : this;
    }

    /** Whether answers took longer than they may since it was last judged. */
    public boolean isLate(Duration objective) {
        return p99Seconds
                .filter(seconds -> seconds * 1000 > objective.toMillis())
                .isPresent();
    }

    /**
     * After a comparison.
     *
     * @param largest batch that the model allows
     * @param inForce share of it that is in force; batches become a tenth smaller than they were, not than they might
     *     be
     * @param least share that the requests need
     */
    BatchingGuard judged(Duration objective, int largest, double inForce, double least, Instant now) {
        boolean late = isLate(objective);
        boolean grows = p99Seconds.isPresent() && isCalm(now);
        double next = late ? KEPT * Math.min(share, inForce) : grows ? Math.min(1, share + 1.0 / largest) : share;
        return new BatchingGuard(now, Math.max(least, next), late ? Optional.of(now) : lateAt, Optional.empty());
    }

    /** Whether requests may be made to wait for company. */
    boolean isCalm(Instant now) {
        return lateAt.filter(late -> late.plus(CALM).isAfter(now)).isEmpty();
    }
}

package io.lendstream.core.state;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The position of a job in the queues of a policy. The scheduler keeps it; only the policy reads and renews it.
 *
 * @param queue the job's queue; 0 is served first
 * @param since when it joined that queue
 * @param served how long plans had let it run before {@code runningSince}
 * @param runningSince since when plans let it run; empty while it waits
 */
public record QueuePosition(int queue, Instant since, Duration served, Optional<Instant> runningSince) {
    /** The standing of a job that no plan has seen yet. */
    public static QueuePosition newcomer(Instant now) {
        return new QueuePosition(0, now, Duration.ZERO, Optional.empty());
    }

    /** How long plans have let it run up to a time. */
    public Duration servedBy(Instant now) {
        return runningSince
                .map(from -> served.plus(Duration.between(from, now)))
                .orElse(served);
    }

    public QueuePosition movedTo(int nextQueue, Instant now) {
        return new QueuePosition(nextQueue, now, served, runningSince);
    }

    /** By a plan that lets it run from now on, or not. */
    public QueuePosition running(boolean runs, Instant now) {
        if (runs == runningSince.isPresent()) {
            return this;
        }
        return new QueuePosition(queue, since, servedBy(now), runs ? Optional.of(now) : Optional.empty());
    }
}

package io.lendstream.core.cluster;

import java.time.Duration;
import java.time.Instant;

/**
 * Where a job stands with a policy that serves jobs in queues. The scheduler keeps it; only the policy reads and renews it.
 *
 * @param queue the job's queue; 0 is served first
 * @param since when it joined that queue
 * @param served how long plans have let it run
 * @param running whether the latest plan lets it run
 * @param countedUpTo up to when {@code served} counts
 */
public record Standing(int queue, Instant since, Duration served, boolean running, Instant countedUpTo) {
    /** The standing of a job that no plan has seen yet. */
    public static Standing newcomer(Instant now) {
        return new Standing(0, now, Duration.ZERO, false, now);
    }

    /** With the time since the last count added, if the job ran. */
    public Standing countedTo(Instant now) {
        Duration ran = running ? Duration.between(countedUpTo, now) : Duration.ZERO;
        return new Standing(queue, since, served.plus(ran), running, now);
    }

    public Standing movedTo(int nextQueue, Instant now) {
        return new Standing(nextQueue, now, served, running, countedUpTo);
    }

    public Standing running(boolean runs) {
        return new Standing(queue, since, served, runs, countedUpTo);
    }
}

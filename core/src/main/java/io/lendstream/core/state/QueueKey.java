package io.lendstream.core.state;

import io.lendstream.core.id.JobId;
import java.time.Instant;

/**
 * The position of a job in the order of service: the key that lists jobs that have not ended. By queue and time in it;
 * jobs that no policy has put in a queue come behind the others of the first, in order of submission and then name.
 *
 * @param queued since when it is in its queue; {@link Instant#MAX} where no policy has put it there
 */
public record QueueKey(int queue, Instant queued, Instant submitted, JobId job) implements Comparable<QueueKey> {
    static QueueKey of(JobState job) {
        return new QueueKey(
                job.standing().map(QueuePosition::queue).orElse(0),
                job.standing().map(QueuePosition::since).orElse(Instant.MAX),
                job.spec().submittedAt(),
                job.spec().job());
    }

    @Override
    public int compareTo(QueueKey other) {
        int order = Integer.compare(queue, other.queue);
        order = order != 0 ? order : queued.compareTo(other.queued);
        order = order != 0 ? order : submitted.compareTo(other.submitted);
        return order != 0 ? order : job.compareTo(other.job);
    }
}

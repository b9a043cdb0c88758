package io.lendstream.simulator;

import io.lendstream.core.event.JobPhase;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The result of a training job.
 *
 * @param started when it was first given GPUs
 * @param completed when it was over, however it ended
 * @param restarts changes of its GPUs after the first start, other than to none, and crashes; AFE carries out some in
 *     place
 * @param inPlace how many of these were carried out in place, without a restart from a checkpoint
 * @param gpuSeconds GPU time it held until it was done
 * @param done share of its work that is done
 * @param phase how it ended, or where it stands
 * @param deadline when its owner needed it done, if there was such a time
 * @param kinds the kinds of GPU that it had, by name; empty where they are not known
 */
public record JobResult(
        JobId job,
        String application,
        Instant submitted,
        Optional<Instant> started,
        Optional<Instant> completed,
        int restarts,
        int inPlace,
        double gpuSeconds,
        double done,
        JobPhase phase,
        Optional<Instant> deadline,
        List<KindId> kinds) {
    public JobResult {
        kinds = List.copyOf(kinds);
    }

    /** A job without changes in place and without a deadline. */
    public JobResult(
            JobId job,
            String application,
            Instant submitted,
            Optional<Instant> started,
            Optional<Instant> completed,
            int restarts,
            double gpuSeconds,
            double done,
            JobPhase phase) {
        this(job, application, submitted, started, completed, restarts, 0, gpuSeconds, done, phase, Optional.empty());
    }

    /** A job on GPUs whose kinds are not known. */
    public JobResult(
            JobId job,
            String application,
            Instant submitted,
            Optional<Instant> started,
            Optional<Instant> completed,
            int restarts,
            int inPlace,
            double gpuSeconds,
            double done,
            JobPhase phase,
            Optional<Instant> deadline) {
        this(
                job,
                application,
                submitted,
                started,
                completed,
                restarts,
                inPlace,
                gpuSeconds,
                done,
                phase,
                deadline,
                List.of());
    }

    /** Whether it finished by its deadline. */
    public boolean metDeadline() {
        return phase == JobPhase.FINISHED
                && deadline.filter(by -> completed.filter(at -> !at.isAfter(by)).isPresent())
                        .isPresent();
    }

    /** Whether it had a deadline, and did not finish by then. */
    public boolean missedDeadline(Instant now) {
        return !metDeadline()
                && deadline.filter(by -> completed.isPresent() || by.isBefore(now))
                        .isPresent();
    }

    /** From submission to the first start. */
    public Optional<Duration> firstWait() {
        return started.map(at -> Duration.between(submitted, at));
    }

    /** From submission to completion. */
    public Optional<Duration> completionTime() {
        return completed.map(at -> Duration.between(submitted, at));
    }
}

package io.lendstream.simulator.workload;

import io.lendstream.core.event.JobPhase;
import java.util.Optional;

/**
 * The end of a job, which policies do not know in advance.
 *
 * @param end how it ends once its work is done: a job that fails or is cancelled does no more work than it did until
 *     then
 * @param crashesAt share of its work at which its processes die, once, to go on from its last checkpoint; above 0,
 *     below 1
 */
public record JobOutcome(JobPhase end, Optional<Double> crashesAt) {
    /** It finishes, and nothing befalls it. */
    public static final JobOutcome FINISHES = new JobOutcome(JobPhase.FINISHED, Optional.empty());

    public JobOutcome {
        if (!end.isOver()) {
            throw new IllegalArgumentException("a job must end finished, failed or cancelled, but was to end " + end);
        }
        if (crashesAt.filter(share -> share > 0 && share < 1).isEmpty() && crashesAt.isPresent()) {
            throw new IllegalArgumentException(
                    "a job must crash at a share of its work above 0 and below 1, but was to at " + crashesAt.get());
        }
    }
}

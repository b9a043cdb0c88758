package io.lendstream.core.policy.jct;

import io.lendstream.core.event.Limits;
import io.lendstream.core.policy.JobView;
import java.time.Duration;
import java.time.Instant;
import java.util.OptionalDouble;

/**
 * How late a job is. A job whose total or speed is not known never is: what a guess makes of its lateness grows without
 * bound while it waits, and such jobs would take turns.
 *
 * @param behind how many times as long it takes as with an equal share of the GPUs; at least 1
 * @param pressure how many times as fast as with an equal share from now on it has to be to meet its deadline, soft or
 *     hard; at most {@link #MOST_PRESSURE}; empty without a deadline, and once that has passed
 */
record Lateness(double behind, OptionalDouble pressure) {
    static final Lateness NONE = new Lateness(1, OptionalDouble.empty());

    /** A deadline that cannot be met must not stop all other jobs. */
    static final double MOST_PRESSURE = 4;

    /** With this power of its lateness a job weighs more. */
    private static final int POWER = 2;
    /** Words name a lateness from here on. */
    private static final double NAMED = 1.1;

    /**
     * How late a job is behind an equal share, from its submission to its end: the time with an equal share from now
     * on, over that with one at all times. Of its past, as much counts as an equal share needs to give the GPU time
     * that it got. So a job that cannot use its share, and leaves it to others, counts as late too.
     *
     * @param equal GPUs for each job
     */
    static Lateness of(JobView job, double equal, Instant now) {
        if (!job.pace().isTotalKnown() || !job.isSpeedKnown()) {
            return NONE;
        }
        double share = Math.max(1, equal);
        int gpus = Math.max(job.least(), (int) Math.min(share, job.most()));
        double rest = job.pace().remainingSeconds(gpus);
        double age = seconds(job.age(now));
        double had = Math.min(age, job.attainedGpuSeconds() / share);
        return new Lateness((age + rest) / (had + rest), pressure(job, rest, now));
    }

    /** @param rest seconds to its end with an equal share */
    private static OptionalDouble pressure(JobView job, double rest, Instant now) {
        double left = job.deadline()
                .map(deadline -> seconds(Duration.between(now, deadline.at())))
                .orElse(0.0);
        if (left <= 0) {
            return OptionalDouble.empty();
        }
        return OptionalDouble.of(left * MOST_PRESSURE <= rest ? MOST_PRESSURE : rest / left);
    }

    /** How many times as much the job weighs; at least 1. */
    double factor() {
        return Math.pow(Math.max(behind, pressure.orElse(1)), POWER);
    }

    /** Why it weighs more, after its weight; empty if that is not worth a word. */
    String inWords() {
        if (pressure.orElse(0) > Math.max(NAMED, behind)) {
            return " since it would miss its deadline with an equal share";
        }
        return behind < NAMED ? "" : " since it had less than an equal share";
    }

    private static double seconds(Duration time) {
        return Limits.millis(time) / 1000.0;
    }
}

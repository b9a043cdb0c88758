package io.lendstream.core.scheduler;

import io.lendstream.core.policy.Policy;
import java.time.Duration;
import java.time.Instant;

/** The times at which training is planned: multiples of a policy's periods, with the phase of the domain. */
record PlanTimes(Policy policy, SchedulerSettings settings) {
    /** The first time for plans after a time. */
    Instant next(Instant after) {
        return next(policy.planEvery(), after);
    }

    /** The same after a job came or ended. */
    Instant nextAfterJobs(Instant after) {
        Instant early = next(policy.planAfterJobs(), after);
        Instant usual = next(after);
        return early.isBefore(usual) ? early : usual;
    }

    private Instant next(Duration every, Instant after) {
        long period = every.toMillis();
        long phase = settings.planPhase().toMillis();
        return Instant.ofEpochMilli((Math.floorDiv(after.toEpochMilli() - phase, period) + 1) * period + phase);
    }
}

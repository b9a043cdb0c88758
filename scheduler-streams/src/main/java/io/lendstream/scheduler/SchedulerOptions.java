package io.lendstream.scheduler;

import io.lendstream.core.scheduler.HeldSamples;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;

/**
 * Settings of the topology, apart from the names of its topics.
 *
 * @param scheduler the core, with its policy and settings
 * @param time what advances time between events
 * @param maxClockSkew how far a record's time may be ahead of the wall clock
 * @param awaitsForecasts whether an accelerated run waits for a step's forecasts before its time advances
 * @param forecastStep length of a step of demand, used until a service's first forecast arrives
 * @param forecastPatience wall-clock time after which an accelerated run continues without a forecast
 * @param limits largest sizes of a domain
 * @param snapshots when the state of a domain is written as a snapshot
 * @param holdSamples time for which samples that change nothing are held, to be summed up; only by the wall clock
 */
record SchedulerOptions(
        Scheduler scheduler,
        TimeMode time,
        Duration maxClockSkew,
        boolean awaitsForecasts,
        Duration forecastStep,
        Duration forecastPatience,
        DomainLimits limits,
        SnapshotPace snapshots,
        Duration holdSamples) {

    /** Options with the default limits, snapshots and time to hold samples. */
    SchedulerOptions(
            Scheduler scheduler,
            TimeMode time,
            Duration maxClockSkew,
            boolean awaitsForecasts,
            Duration forecastStep,
            Duration forecastPatience) {
        this(
                scheduler,
                time,
                maxClockSkew,
                awaitsForecasts,
                forecastStep,
                forecastPatience,
                SchedulerKeys.DEFAULT_LIMITS,
                SchedulerKeys.DEFAULT_SNAPSHOTS,
                SchedulerKeys.DEFAULT_HOLD);
    }

    SchedulerOptions {
        if (forecastStep.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new IllegalArgumentException("scheduler.forecast-step must be at least 1s, but is " + forecastStep);
        }
    }

    /** A holder of samples for a domain; by virtual time it holds none. */
    HeldSamples heldSamples() {
        return new HeldSamples(time == TimeMode.WALL ? holdSamples : Duration.ZERO, scheduler.settings());
    }
}

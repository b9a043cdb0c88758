package io.lendstream.scheduler;

import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;

/**
 * What the topology has to know besides the names of its topics.
 *
 * @param scheduler the core, with its policy and settings
 * @param time what moves time on when no event does
 * @param maxClockSkew how far a record's time may lie ahead of the wall clock before it is not believed
 * @param awaitsForecasts whether an accelerated run waits for the forecasts of a step before its time goes on
 * @param forecastStep length of a step of demand, until a service's first forecast says it
 * @param forecastPatience time on the wall clock after which an accelerated run goes on without a forecast
 * @param limits of what a domain may have
 */
record SchedulerOptions(
        Scheduler scheduler,
        TimeMode time,
        Duration maxClockSkew,
        boolean awaitsForecasts,
        Duration forecastStep,
        Duration forecastPatience,
        DomainLimits limits) {

    /** With the limits that hold where nothing else is said. */
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
                SchedulerKeys.DEFAULT_LIMITS);
    }

    SchedulerOptions {
        if (forecastStep.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new IllegalArgumentException("scheduler.forecast-step must be at least 1s, but was " + forecastStep);
        }
    }
}

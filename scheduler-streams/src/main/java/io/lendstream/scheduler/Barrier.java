package io.lendstream.scheduler;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SourceRate;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What an accelerated run's time waits for: the environment and the actuator have said that they are there, everything
 * that they wrote until then has been taken, and every closed step of demand has its forecast.
 *
 * @param sources names in Kafka of the topics that the scheduler reads; positions in others are none of its business
 * @param awaitsForecasts whether there is a forecaster to wait for
 * @param forecastStep length of a step of demand, until a service's first forecast says it
 */
record Barrier(Set<String> sources, boolean awaitsForecasts, Duration forecastStep) {
    Barrier {
        sources = Set.copyOf(sources);
    }

    /** The time up to which the environment is to be answered; empty if it has been, or somebody is not there yet. */
    Optional<Instant> reached(Domain domain) {
        Optional<Progress> environment = domain.progress(ServiceName.ENVIRONMENT);
        Optional<Progress> actuator = domain.progress(ServiceName.ACTUATOR);
        if (environment.isEmpty() || actuator.isEmpty()) {
            return Optional.empty();
        }
        Instant upTo = environment.get().eventTime();
        boolean answered =
                domain.answered().filter(last -> !last.isBefore(upTo)).isPresent();
        return !answered
                        && !actuator.get().eventTime().isBefore(upTo)
                        && isTaken(domain, environment.get())
                        && isTaken(domain, actuator.get())
                ? Optional.of(upTo)
                : Optional.empty();
    }

    private boolean isTaken(Domain domain, Progress progress) {
        for (Map.Entry<String, Long> position : progress.positions().entrySet()) {
            int end = position.getKey().lastIndexOf('-');
            boolean read = end > 0 && sources.contains(position.getKey().substring(0, end));
            if (read && domain.accepted(position.getKey()) < position.getValue() - 1) {
                return false;
            }
        }
        return true;
    }

    /** A service that has closed a step of demand for which there is no forecast yet. */
    Optional<ServiceId> missingForecast(Domain domain) {
        return awaitsForecasts
                ? domain.state().services().stream()
                        .filter(service -> lacksForecast(domain, service))
                        .map(service -> service.spec().service())
                        .findFirst()
                : Optional.empty();
    }

    private boolean lacksForecast(Domain domain, ServiceState service) {
        Optional<Instant> start = domain.firstWindow(service.spec().service());
        Optional<Instant> reportedTo =
                service.sources().values().stream().map(SourceRate::at).min(Instant::compareTo);
        if (start.isEmpty() || reportedTo.isEmpty()) {
            return false;
        }
        long step = service.forecast()
                .map(DemandForecast::step)
                .orElse(forecastStep)
                .toMillis();
        long closedTo = Math.floorDiv(reportedTo.get().toEpochMilli(), step) * step;
        boolean complete = closedTo - step >= start.get().toEpochMilli();
        return complete
                && service.forecast()
                        .filter(forecast -> forecast.issuedAt().toEpochMilli() >= closedTo)
                        .isEmpty();
    }
}

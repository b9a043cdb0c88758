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
 * Decides when virtual time may advance in an accelerated run. It waits until the virtual-time driver and the
 * actuator have announced themselves, every record that they wrote so far has been processed, and each closed step of
 * demand has its forecast.
 *
 * @param sources Kafka names of the topics that the scheduler reads; positions in other topics are ignored
 * @param awaitsForecasts whether a forecaster takes part in the run
 * @param forecastStep length of a step of demand, used until a service's first forecast arrives
 */
record Barrier(Set<String> sources, boolean awaitsForecasts, Duration forecastStep) {
    Barrier {
        sources = Set.copyOf(sources);
    }

    /**
     * The time up to which the virtual-time driver can be answered; empty if answered already, or a participant is
     * missing.
     */
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

    /** A service that has closed a step of demand without a forecast so far. */
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

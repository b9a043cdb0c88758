package io.lendstream.simulator.report;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/**
 * How a service met its SLO in a run.
 *
 * @param requests requests offered, the unanswered included
 * @param withinSlo requests answered within the SLO
 * @param coldStarts requests, or replicas, that waited for a replica to start
 */
public record ServiceSlo(String service, double requests, double withinSlo, long coldStarts) {
    /** Share of the requests that were answered within the SLO; 1 without requests. */
    public double attainment() {
        return requests > 0 ? Math.min(1, withinSlo / requests) : 1;
    }

    /** Requests that were answered too late, or not at all. */
    public double misses() {
        return Math.max(0, requests - withinSlo);
    }

    /** The service with the least attainment, by name among equals; empty without requests. */
    public static Optional<ServiceSlo> worst(Collection<ServiceSlo> services) {
        return services.stream()
                .filter(each -> each.requests > 0)
                .min(Comparator.comparingDouble(ServiceSlo::attainment).thenComparing(ServiceSlo::service));
    }
}

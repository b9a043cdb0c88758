package io.lendstream.core.demand;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.Limits;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Replicas that a service needs, and by which cause.
 *
 * @param now replicas for the requests that are there
 * @param ahead replicas for what is expected within the time that a reclaim and a warm-up take; 0 where nothing is
 *     expected of the forecast
 * @param floor replicas that are kept whatever the demand
 */
public record ReplicaNeed(int now, int ahead, int floor) {
    /** What a service needs; the greatest cause wins. A forecast can only raise it. */
    public int replicas() {
        return Math.max(floor, Math.max(now, ahead));
    }

    /** How the need came about, for people. */
    public String explained() {
        return now + " for the requests there are, " + ahead + " expected, floor " + floor;
    }

    /**
     * What a service needs at a time.
     *
     * @param lead time from a decision to a replica that answers
     * @param looksAhead whether forecasts count; where one is missing, the greatest demand of the last ten minutes stands
     *     in
     */
    public static ReplicaNeed of(ServiceState service, Instant now, Duration lead, boolean looksAhead) {
        return new ReplicaNeed(
                present(service),
                looksAhead ? ahead(service, now, lead) : 0,
                service.spec().floorReplicas());
    }

    /**
     * Replicas that a service needs beside what it is planned onto, which is its floor, too.
     *
     * @param answered requests per second that what it is planned onto answers
     * @param expected requests per second to be ready for
     */
    public static ReplicaNeed beside(ServiceState service, double answered, double expected) {
        return new ReplicaNeed(
                replicasFor(service, Math.max(0, perSecond(service) - answered)),
                replicasFor(service, Math.max(0, expected - answered)),
                0);
    }

    private static int present(ServiceState service) {
        Optional<Integer> concurrency = service.spec().replicaConcurrency();
        if (concurrency.isPresent()) {
            return ceilDiv((long) service.inFlight() + service.queueDepth(), concurrency.get());
        }
        return replicasFor(service, perSecond(service));
    }

    /** Requests that arrive, and those that wait as if they were to be answered within a window. */
    private static double perSecond(ServiceState service) {
        double backlogPerSecond = service.queueDepth() / Math.max(1.0, Limits.millis(service.window()) / 1000.0);
        return service.arrivalsPerSecond() + backlogPerSecond;
    }

    private static int ahead(ServiceState service, Instant now, Duration lead) {
        Optional<DemandForecast> forecast = service.forecast();
        if (forecast.isEmpty() || !isFresh(forecast.get(), now)) {
            return replicasFor(service, service.recentPeak(now));
        }
        Duration age = Duration.between(forecast.get().issuedAt(), now);
        return replicasFor(service, forecast.get().peakWithin(lead.plus(age), HorizonQuantiles::p99));
    }

    private static boolean isFresh(DemandForecast forecast, Instant now) {
        Duration step = forecast.step();
        return forecast.issuedAt().plus(step).plus(step).plus(step).isAfter(now);
    }

    private static int replicasFor(ServiceState service, double requestsPerSecond) {
        return ReplicaCapacity.of(service.spec()).replicasFor(requestsPerSecond);
    }

    /** Rounded up; at most what an int holds. */
    private static int ceilDiv(long total, int each) {
        return (int) Math.min(Integer.MAX_VALUE, (total + each - 1) / each);
    }
}

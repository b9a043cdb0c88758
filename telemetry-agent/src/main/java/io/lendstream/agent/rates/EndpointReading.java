package io.lendstream.agent.rates;

import io.lendstream.core.latency.BatchCounter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The values of an endpoint at one time.
 *
 * @param at time by the wall clock
 * @param nanos time by a monotonic clock
 * @param points by metric name
 * @param batches batch counters since the server's start, by model and batch size; empty if unknown
 */
public record EndpointReading(
        Instant at, long nanos, Map<String, List<Point>> points, Map<String, Map<Integer, BatchCounter>> batches) {
    public EndpointReading {
        points = Map.copyOf(points);
        batches = Map.copyOf(batches);
    }

    /** A reading of the points of a scrape; NaN values count as absent. */
    public static EndpointReading of(Instant at, long nanos, List<Point> points) {
        var byName = new TreeMap<String, List<Point>>();
        for (Point point : points) {
            if (Double.isFinite(point.value())) {
                byName.computeIfAbsent(point.name(), name -> new ArrayList<>()).add(point);
            }
        }
        return new EndpointReading(at, nanos, byName, Map.of());
    }

    /** This reading with a server's batch counters. */
    public EndpointReading with(Map<String, Map<Integer, BatchCounter>> counted) {
        return new EndpointReading(at, nanos, points, counted);
    }

    /** A reading at the same time with zero counts. */
    EndpointReading beforeAnything() {
        return new EndpointReading(at, nanos, Map.of(), Map.of());
    }

    List<Point> named(String name) {
        return points.getOrDefault(name, List.of());
    }

    /** The time since another reading, independent of changes of the wall clock. */
    Duration since(EndpointReading before) {
        return Duration.ofNanos(nanos - before.nanos);
    }
}

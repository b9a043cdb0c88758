package io.lendstream.agent.rates;

import io.lendstream.core.latency.BatchCounter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What an endpoint showed at one moment.
 *
 * @param at by the wall clock
 * @param nanos by a clock that nobody sets
 * @param points by their metrics' names
 * @param batches what a server has counted of batches since it started, by model and batch size; empty where nobody told
 */
public record EndpointReading(
        Instant at, long nanos, Map<String, List<Point>> points, Map<String, Map<Integer, BatchCounter>> batches) {
    public EndpointReading {
        points = Map.copyOf(points);
        batches = Map.copyOf(batches);
    }

    /** Of the points of a scrape; those that are no number are as good as absent. */
    public static EndpointReading of(Instant at, long nanos, List<Point> points) {
        var byName = new TreeMap<String, List<Point>>();
        for (Point point : points) {
            if (Double.isFinite(point.value())) {
                byName.computeIfAbsent(point.name(), name -> new ArrayList<>()).add(point);
            }
        }
        return new EndpointReading(at, nanos, byName, Map.of());
    }

    /** The same with what a server counted of its batches. */
    public EndpointReading with(Map<String, Map<Integer, BatchCounter>> counted) {
        return new EndpointReading(at, nanos, points, counted);
    }

    /** The same moment, when nothing had been counted yet. */
    EndpointReading beforeAnything() {
        return new EndpointReading(at, nanos, Map.of(), Map.of());
    }

    List<Point> named(String name) {
        return points.getOrDefault(name, List.of());
    }

    /** How long after another reading this one was taken, whatever has been done to the clock meanwhile. */
    Duration since(EndpointReading before) {
        return Duration.ofNanos(nanos - before.nanos);
    }
}

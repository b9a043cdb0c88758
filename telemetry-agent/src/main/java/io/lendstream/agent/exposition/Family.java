package io.lendstream.agent.exposition;

import java.util.List;

/**
 * A metric with all its samples.
 *
 * @param name in OpenMetrics without {@code _total}; without a declared type, the samples' name
 * @param help the writer's description; empty without one
 * @param unit in OpenMetrics, such as {@code seconds}; empty without one
 */
public record Family(String name, MetricType type, String help, String unit, List<MetricSample> samples) {
    public Family {
        samples = List.copyOf(samples);
    }
}

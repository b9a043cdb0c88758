package io.lendstream.agent.exposition;

import java.util.List;

/**
 * A metric and all its samples.
 *
 * @param name in OpenMetrics without {@code _total}; where a writer gave no type, the samples' name
 * @param help what the writer says of it; empty where nothing
 * @param unit in OpenMetrics, such as {@code seconds}; empty where nothing
 */
public record Family(String name, MetricType type, String help, String unit, List<MetricSample> samples) {
    public Family {
        samples = List.copyOf(samples);
    }
}

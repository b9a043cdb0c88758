package io.lendstream.agent.exposition;

import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * One value of a metric.
 *
 * @param name as written, with {@code _bucket}, {@code _sum}, {@code _total} and the like
 * @param labels in the order in which they were written
 * @param value may be NaN or infinite
 * @param timestamp where the writer gave one
 */
public record MetricSample(String name, Map<String, String> labels, double value, Optional<Instant> timestamp) {
    public MetricSample {
        labels = Collections.unmodifiableMap(new LinkedHashMap<>(labels));
    }

    /** A label's value; an absent label and an empty one are the same in Prometheus. */
    public String label(String wanted) {
        return labels.getOrDefault(wanted, "");
    }
}

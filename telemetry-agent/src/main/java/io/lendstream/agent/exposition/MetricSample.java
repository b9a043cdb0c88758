package io.lendstream.agent.exposition;

import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * One value of a metric.
 *
 * @param name as written, with {@code _bucket}, {@code _sum}, {@code _total} and similar endings
 * @param labels in written order
 * @param value may be NaN or infinite
 * @param timestamp empty if the writer gave none
 */
public record MetricSample(String name, Map<String, String> labels, double value, Optional<Instant> timestamp) {
    public MetricSample {
        labels = Collections.unmodifiableMap(new LinkedHashMap<>(labels));
    }

    /** A label's value; Prometheus treats an absent label like an empty one. */
    public String label(String wanted) {
        return labels.getOrDefault(wanted, "");
    }
}

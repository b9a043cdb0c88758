package io.lendstream.agent.exposition;

import java.util.Arrays;
import java.util.Optional;

/** The declared type of a metric family. Writers may be wrong; compare the family's samples. */
public enum MetricType {
    COUNTER("counter", "_total", "_created"),
    GAUGE("gauge"),
    HISTOGRAM("histogram", "_bucket", "_sum", "_count", "_created"),
    SUMMARY("summary", "_sum", "_count", "_created"),
    /** A histogram of current values; OpenMetrics only. */
    GAUGE_HISTOGRAM("gaugehistogram", "_bucket", "_gsum", "_gcount"),
    /** OpenMetrics only. */
    INFO("info", "_info"),
    /** OpenMetrics only. */
    STATE_SET("stateset"),
    /** Unknown or not declared: {@code untyped} in Prometheus' format, {@code unknown} in OpenMetrics. */
    UNKNOWN("unknown");

    private final String word;

    @SuppressWarnings("ImmutableEnumChecker") // filled here and never written to
    private final String[] suffixes;

    MetricType(String word, String... suffixes) {
        this.word = word;
        this.suffixes = suffixes;
    }

    static Optional<MetricType> of(String word) {
        if (word.equals("untyped")) {
            return Optional.of(UNKNOWN);
        }
        return Arrays.stream(values()).filter(type -> type.word.equals(word)).findFirst();
    }

    /** Whether a family of this type may have samples with this ending after its name. */
    boolean has(String suffix) {
        return Arrays.asList(suffixes).contains(suffix);
    }
}

package io.lendstream.agent.exposition;

import java.util.Locale;
import java.util.Optional;

/** A text format of metrics. */
public enum Format {
    /** Prometheus' text format 0.0.4: times in milliseconds, no end marker. */
    TEXT,
    /** OpenMetrics 1.0: times in seconds, exemplars, units, and a required end marker. */
    OPEN_METRICS;

    /** The Accept header for servers. */
    public static final String ACCEPT =
            "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.8,*/*;q=0.1";

    /** The format of a response's Content-Type; empty if it names neither, so the text must be inspected. */
    public static Optional<Format> of(String contentType) {
        String type = contentType.toLowerCase(Locale.ROOT).strip();
        if (type.startsWith("application/openmetrics-text")) {
            return Optional.of(OPEN_METRICS);
        }
        return type.startsWith("text/plain") && type.contains("version=0.0.4") ? Optional.of(TEXT) : Optional.empty();
    }
}

package io.lendstream.agent.exposition;

import java.util.Locale;
import java.util.Optional;

/** A way to write metrics as text. */
public enum Format {
    /** Prometheus' text format 0.0.4: times in milliseconds, any end. */
    TEXT,
    /** OpenMetrics 1.0: times in seconds, exemplars, units, and an end that must be there. */
    OPEN_METRICS;

    /** What to ask servers for. */
    public static final String ACCEPT =
            "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.8,*/*;q=0.1";

    /** By a response's Content-Type; empty where it says neither, so that one has to look at the text. */
    public static Optional<Format> of(String contentType) {
        String type = contentType.toLowerCase(Locale.ROOT).strip();
        if (type.startsWith("application/openmetrics-text")) {
            return Optional.of(OPEN_METRICS);
        }
        return type.startsWith("text/plain") && type.contains("version=0.0.4") ? Optional.of(TEXT) : Optional.empty();
    }
}

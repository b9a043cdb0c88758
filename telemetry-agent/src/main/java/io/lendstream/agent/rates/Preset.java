package io.lendstream.agent.rates;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The metrics of a kind of server, by their meaning.
 *
 * @param about purpose and use of the preset, a sentence
 * @param labels labels with the service's name; the first that exists counts
 * @param arrivals counter of offered requests; if there is none, arrivals are derived from ended requests and the
 *     change of requests inside
 * @param completions counter of answered requests
 * @param finished counter of all ended requests, including refused and failed ones; completions by default
 * @param inFlight number of requests being computed
 * @param queue number of waiting requests
 * @param latency histogram of response times
 * @param quantiles summary of response times, with quantiles 0.5 and 0.99, for servers without a histogram
 * @param latencySeconds unit of either, in seconds
 * @param sizes histogram of input sizes
 */
public record Preset(
        String name,
        String about,
        List<String> labels,
        Measure arrivals,
        Measure completions,
        Measure finished,
        Measure inFlight,
        Measure queue,
        Measure latency,
        Measure quantiles,
        double latencySeconds,
        Measure sizes) {
    private static final Map<String, Double> UNITS = Map.of("s", 1.0, "ms", 1e-3, "us", 1e-6);
    private static final List<String> KEYS = List.of(
            "about",
            "service",
            "arrivals",
            "completions",
            "finished",
            "in-flight",
            "queue",
            "latency",
            "latency-quantiles",
            "latency-unit",
            "sizes");

    public Preset {
        labels = List.copyOf(labels);
        if (arrivals.isNone() && completions.isNone()) {
            throw new IllegalArgumentException(
                    "rate preset %s has neither arrivals nor completions. Name the counter of one of them."
                            .formatted(name));
        }
    }

    /** A preset from the settings of a file, with the preset's name removed from their names. */
    static Preset of(String name, Map<String, String> settings) {
        var unknown = new TreeMap<>(settings);
        unknown.keySet().removeAll(KEYS);
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("rate preset %s has '%s', but may have only %s."
                    .formatted(name, unknown.firstKey(), String.join(", ", KEYS)));
        }
        String unit = settings.getOrDefault("latency-unit", "s");
        if (!UNITS.containsKey(unit)) {
            throw new IllegalArgumentException(
                    "rate preset %s has latency-unit %s, but it must be s, ms or us.".formatted(name, unit));
        }
        Measure completions = measure(name, settings, "completions");
        Measure finished = measure(name, settings, "finished");
        return new Preset(
                name,
                settings.getOrDefault("about", ""),
                List.of(settings.getOrDefault("service", "").strip().split("\\s*\\|\\s*")),
                measure(name, settings, "arrivals"),
                completions,
                finished.isNone() ? completions : finished,
                measure(name, settings, "in-flight"),
                measure(name, settings, "queue"),
                measure(name, settings, "latency"),
                measure(name, settings, "latency-quantiles"),
                UNITS.get(unit),
                measure(name, settings, "sizes"));
    }

    private static Measure measure(String name, Map<String, String> settings, String key) {
        try {
            return Measure.parse(settings.getOrDefault(key, ""));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "%s.%s of the rate presets: %s.".formatted(name, key, e.getMessage()), e);
        }
    }
}

package io.lendstream.agent.rates;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which metrics of a kind of server say what.
 *
 * @param about what it is for and how its numbers are to be taken, a sentence
 * @param labels that name the service, the first that is there counts
 * @param arrivals counts requests offered; where nothing does, they are what ended and what more is inside than before
 * @param completions counts requests answered
 * @param finished counts all that left, refused and failed ones too; completions where nothing else is said
 * @param inFlight requests being computed now
 * @param queue requests waiting now
 * @param latency a histogram of response times
 * @param quantiles a summary of response times, with quantiles 0.5 and 0.99, for servers without a histogram
 * @param latencySeconds one unit of either, in seconds
 * @param sizes a histogram of input sizes
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

    /** A preset of the settings of a file, without its name before them. */
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

package io.lendstream.benchmarks.soak;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The samples of every process. Not thread-safe. */
final class Samples {
    /** Samples left out at the start, while caches fill and code is compiled. */
    private static final double WARM_UP_SHARE = 0.25;

    private record Point(double minute, double value) {}

    private final Map<String, Map<SoakMetric, List<Point>>> byProcess = new TreeMap<>();

    void add(String process, SoakMetric figure, double minute, double value) {
        byProcess
                .computeIfAbsent(process, any -> new EnumMap<>(SoakMetric.class))
                .computeIfAbsent(figure, any -> new ArrayList<>())
                .add(new Point(minute, value));
    }

    /** Slopes by process and figure, without those of too few samples. */
    Map<String, Map<SoakMetric, Slope>> slopes() {
        var slopes = new TreeMap<String, Map<SoakMetric, Slope>>();
        byProcess.forEach((process, figures) -> figures.forEach((figure, points) -> {
            List<Point> late = points.subList((int) (points.size() * WARM_UP_SHARE), points.size());
            if (late.size() >= 2 * Slope.BLOCKS) {
                slopes.computeIfAbsent(process, any -> new EnumMap<>(SoakMetric.class))
                        .put(
                                figure,
                                Slope.of(
                                        late.stream().mapToDouble(Point::minute).toArray(),
                                        late.stream().mapToDouble(Point::value).toArray()));
            }
        }));
        return slopes;
    }

    /** Figures for the line of JSON: the last value of each, and its slope with both ends of its interval. */
    Map<String, Object> metrics() {
        var metrics = new LinkedHashMap<String, Object>();
        Map<String, Map<SoakMetric, Slope>> slopes = slopes();
        byProcess.forEach((process, figures) -> {
            var own = new LinkedHashMap<String, Object>();
            figures.forEach((figure, points) -> {
                var told = new LinkedHashMap<String, Object>();
                told.put("first", rounded(points.get(0).value()));
                told.put("last", rounded(points.get(points.size() - 1).value()));
                Slope slope = slopes.getOrDefault(process, Map.of()).get(figure);
                if (slope != null) {
                    told.put(
                            "perMinute",
                            List.of(rounded(slope.low()), rounded(slope.perMinute()), rounded(slope.high())));
                }
                own.put(figure.text(), told);
            });
            metrics.put(process, own);
        });
        return metrics;
    }

    /**
     * Figures that grow too fast with certainty: the whole interval is above the bound. Also processes with too few
     * samples.
     */
    List<String> misses() {
        var misses = new ArrayList<String>();
        Map<String, Map<SoakMetric, Slope>> slopes = slopes();
        byProcess.forEach((process, figures) -> figures.keySet().forEach(figure -> {
            Slope slope = slopes.getOrDefault(process, Map.of()).get(figure);
            if (slope == null) {
                misses.add("%s: %s has fewer than %d samples after the start; make the run longer"
                        .formatted(process, figure.text(), 2 * Slope.BLOCKS));
            } else if (slope.low() > figure.mostPerMinute()) {
                misses.add("%s: %s grows by %.2f a minute (%.2f to %.2f), but may by %.2f"
                        .formatted(
                                process,
                                figure.text(),
                                slope.perMinute(),
                                slope.low(),
                                slope.high(),
                                figure.mostPerMinute()));
            }
        }));
        return misses;
    }

    private static double rounded(double value) {
        return Math.round(1000 * value) / 1000.0;
    }
}

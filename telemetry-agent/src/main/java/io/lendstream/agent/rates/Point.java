package io.lendstream.agent.rates;

import java.util.Map;
import java.util.TreeMap;

/** One number of a reading, by its metric's name and its labels. */
public record Point(String name, Map<String, String> labels, double value) {
    public Point {
        labels = Map.copyOf(labels);
    }

    /** The series of the point. */
    String series() {
        return name + new TreeMap<>(labels);
    }

    String label(String key) {
        return labels.getOrDefault(key, "");
    }
}

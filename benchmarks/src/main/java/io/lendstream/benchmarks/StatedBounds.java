package io.lendstream.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Compares figures with their bounds; a figure that was not measured is held to none. */
final class StatedBounds {
    private StatedBounds() {}

    /** Figures above their bound, in words. */
    static List<String> above(Map<String, Double> figures, Map<String, Double> most) {
        List<String> misses = new ArrayList<>();
        most.forEach((name, bound) -> {
            Double figure = figures.get(name);
            if (figure != null && !(figure <= bound)) {
                misses.add("%s is %.3f, but must be at most %.3f".formatted(name, figure, bound));
            }
        });
        return misses;
    }

    /** Figures below their bound, in words. */
    static List<String> below(Map<String, Double> figures, Map<String, Double> least) {
        List<String> misses = new ArrayList<>();
        least.forEach((name, bound) -> {
            Double figure = figures.get(name);
            if (figure != null && !(figure >= bound)) {
                misses.add("%s is %.3f, but must be at least %.3f".formatted(name, figure, bound));
            }
        });
        return misses;
    }
}

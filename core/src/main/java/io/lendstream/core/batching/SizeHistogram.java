package io.lendstream.core.batching;

import io.lendstream.core.event.Limits;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The sizes of a model's inputs, with more weight for newer ones: a weight halves in an hour.
 *
 * @param bars by size, ascending, in whatever sizes are counted
 * @param at the time to which weights have been reduced
 */
public record SizeHistogram(List<Bar> bars, Instant at) {
    private static final Duration HALF_LIFE = Duration.ofHours(1);
    /** Less than this share of all is as good as nothing. */
    private static final double NEGLIGIBLE = 1e-6;

    /** Inputs of a size, and what they weigh. */
    public record Bar(int size, double weight) {
        public Bar {
            if (size < 1 || !(weight >= 0)) {
                throw new IllegalArgumentException(
                        "sizes must be at least 1 and weights at least 0, but size %d had weight %s"
                                .formatted(size, weight));
            }
        }
    }

    public SizeHistogram {
        bars = List.copyOf(bars);
        for (int i = 1; i < bars.size(); i++) {
            if (bars.get(i).size <= bars.get(i - 1).size) {
                throw new IllegalArgumentException(
                        "bars must ascend by size, but %s follows %s".formatted(bars.get(i), bars.get(i - 1)));
            }
        }
    }

    public static SizeHistogram empty(Instant at) {
        return new SizeHistogram(List.of(), at);
    }

    /** With more inputs; those that are late count as if they came now. */
    public SizeHistogram with(Map<Integer, Double> counts, Instant now) {
        Instant next = now.isAfter(at) ? now : at;
        double kept = Math.pow(.5, (double) Limits.millis(Duration.between(at, next)) / HALF_LIFE.toMillis());
        TreeMap<Integer, Double> sum = new TreeMap<>();
        bars.forEach(bar -> sum.put(bar.size, kept * bar.weight));
        counts.forEach((size, count) -> sum.merge(size, count, Double::sum));
        double all = sum.values().stream().mapToDouble(Double::doubleValue).sum();
        return new SizeHistogram(
                sum.entrySet().stream()
                        .filter(bar -> bar.getValue() >= NEGLIGIBLE * all)
                        .map(bar -> new Bar(bar.getKey(), bar.getValue()))
                        .toList(),
                next);
    }

    /** Weight of inputs up to a size. */
    double upTo(int size) {
        double sum = 0;
        for (Bar bar : bars) {
            sum += bar.size <= size ? bar.weight : 0;
        }
        return sum;
    }

    /** The weight of all. */
    public double total() {
        return bars.stream().mapToDouble(Bar::weight).sum();
    }
}

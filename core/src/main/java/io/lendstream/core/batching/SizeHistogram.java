package io.lendstream.core.batching;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * How large the inputs of a model are, the newer ones counting more: a weight halves in an hour.
 *
 * @param weights by size, in whatever sizes are counted
 * @param at the time to which weights have been reduced
 */
public record SizeHistogram(NavigableMap<Integer, Double> weights, Instant at) {
    private static final Duration HALF_LIFE = Duration.ofHours(1);
    /** Less than this share of all is as good as nothing. */
    private static final double NEGLIGIBLE = 1e-6;

    public SizeHistogram {
        weights = Collections.unmodifiableNavigableMap(new TreeMap<>(weights));
        weights.forEach((size, weight) -> {
            if (size < 1 || !(weight >= 0)) {
                throw new IllegalArgumentException(
                        "sizes must be at least 1 and weights at least 0, but size %d had weight %s"
                                .formatted(size, weight));
            }
        });
    }

    public static SizeHistogram empty(Instant at) {
        return new SizeHistogram(new TreeMap<>(), at);
    }

    /** With more inputs; those that are late count as if they came now. */
    public SizeHistogram with(Map<Integer, Double> counts, Instant now) {
        Instant next = now.isAfter(at) ? now : at;
        double kept = Math.pow(.5, (double) Duration.between(at, next).toMillis() / HALF_LIFE.toMillis());
        TreeMap<Integer, Double> sum = new TreeMap<>();
        weights.forEach((size, weight) -> sum.put(size, kept * weight));
        counts.forEach((size, count) -> sum.merge(size, count, Double::sum));
        double all = sum.values().stream().mapToDouble(Double::doubleValue).sum();
        sum.values().removeIf(weight -> weight < NEGLIGIBLE * all);
        return new SizeHistogram(sum, next);
    }

    /** Weight of inputs up to a size. */
    double upTo(int size) {
        return weights.headMap(size, true).values().stream()
                .mapToDouble(Double::doubleValue)
                .sum();
    }

    /** The weight of all. */
    public double total() {
        return weights.values().stream().mapToDouble(Double::doubleValue).sum();
    }
}

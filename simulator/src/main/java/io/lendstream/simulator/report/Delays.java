package io.lendstream.simulator.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * A distribution of delays.
 *
 * @param curve points of the cumulative distribution, increasing; the tail in more detail
 */
public record Delays(double meanSeconds, double p99Seconds, double maxSeconds, List<CurvePoint> curve) {
    public Delays {
        curve = List.copyOf(curve);
    }

    /** The distribution of these delays; empty where there are none. */
    public static Optional<Delays> of(Collection<Double> seconds) {
        double[] sorted = seconds.stream()
                .mapToDouble(Double::doubleValue)
                .filter(Double::isFinite)
                .sorted()
                .toArray();
        if (sorted.length == 0) {
            return Optional.empty();
        }
        return Optional.of(new Delays(
                Arrays.stream(sorted).average().orElseThrow(),
                quantile(sorted, 0.99),
                sorted[sorted.length - 1],
                curve(sorted)));
    }

    private static List<CurvePoint> curve(double[] sorted) {
        List<CurvePoint> points = new ArrayList<>();
        for (int i = 0; i < 90; i++) {
            points.add(new CurvePoint(quantile(sorted, i / 100.0), i / 100.0));
        }
        for (double tail = 0.1; tail >= 1e-4; tail /= 1.15) {
            points.add(new CurvePoint(quantile(sorted, 1 - tail), 1 - tail));
        }
        points.add(new CurvePoint(sorted[sorted.length - 1], 1));
        return points;
    }

    /** A quantile of increasing values, interpolated linearly between neighbours. */
    static double quantile(double[] sorted, double share) {
        double position = share * (sorted.length - 1);
        int below = (int) Math.floor(position);
        int above = Math.min(sorted.length - 1, below + 1);
        return sorted[below] + (sorted[above] - sorted[below]) * (position - below);
    }

    /** The share of requests that were delayed by at most {@code seconds}. */
    public record CurvePoint(double seconds, double share) {}
}

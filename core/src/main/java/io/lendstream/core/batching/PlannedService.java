package io.lendstream.core.batching;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * A service for which a batch plan is made.
 *
 * @param ratePerSecond requests to be answered; above 0
 * @param sloMillis within which 99 of 100 are to be answered; above 0
 * @param cv2 squared coefficient of variation of the times between requests: 1 for Poisson, 4 for heavy bursts
 * @param latency what the planner believes of the model, margins included
 * @param sizes weights of input sizes; empty where all are of the largest
 */
public record PlannedService(
        String name,
        double ratePerSecond,
        double sloMillis,
        double cv2,
        ModelLatency latency,
        NavigableMap<Integer, Double> sizes) {
    public PlannedService {
        sizes = java.util.Collections.unmodifiableNavigableMap(new TreeMap<>(sizes));
        above("rate", name, ratePerSecond);
        above("objective", name, sloMillis);
        above("cv2", name, cv2);
    }

    private static void above(String what, String name, double value) {
        if (!(value > 0) || Double.isInfinite(value)) {
            throw new IllegalArgumentException(
                    "the %s of service %s must be a finite number above 0, but is %s".formatted(what, name, value));
        }
    }

    public PlannedService withLatency(ModelLatency other) {
        return new PlannedService(name, ratePerSecond, sloMillis, cv2, other, sizes);
    }

    /** The share of requests above one size, and up to another; all are of the largest where no sizes are given. */
    double share(int above, int upTo) {
        double all = 0;
        double within = 0;
        for (Map.Entry<Integer, Double> entry : sizes.entrySet()) {
            all += entry.getValue();
            within += entry.getKey() > above && entry.getKey() <= upTo ? entry.getValue() : 0;
        }
        return all > 0 ? within / all : upTo == Integer.MAX_VALUE ? 1 : 0;
    }
}

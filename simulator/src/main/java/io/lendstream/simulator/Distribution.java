package io.lendstream.simulator;

import java.util.Map;
import java.util.TreeMap;

/** Numbers that were observed, each as often as it was, with their mean and quantiles. */
public final class Distribution {
    private final TreeMap<Double, Double> counts = new TreeMap<>();
    private double count;
    private double sum;

    public void add(double value) {
        add(value, 1);
    }

    /**
     * Adds a number that was seen several times.
     *
     * @param times how often; may be a fraction where a fluid stands for many requests
     */
    public void add(double value, double times) {
        if (times > 0) {
            counts.merge(value, times, Double::sum);
            count += times;
            sum += value * times;
        }
    }

    public void addAll(Distribution other) {
        other.counts.forEach(this::add);
    }

    public double count() {
        return count;
    }

    /** Mean; 0 of nothing. */
    public double mean() {
        return count > 0 ? sum / count : 0;
    }

    public double max() {
        return counts.isEmpty() ? 0 : counts.lastKey();
    }

    /** How many are at most a bound. */
    public double upTo(double bound) {
        return counts.headMap(bound, true).values().stream()
                .mapToDouble(Double::doubleValue)
                .sum();
    }

    /** A quantile, interpolated linearly between the two observations around it (numpy's default); 0 of nothing. */
    public double quantile(double share) {
        long whole = Math.round(count);
        if (counts.isEmpty() || whole <= 1) {
            return max();
        }
        double position = share * (whole - 1);
        double low = at(Math.floor(position));
        double high = at(Math.ceil(position));
        return low + (high - low) * (position - Math.floor(position));
    }

    /** The observation at a place in their order, from 0. */
    private double at(double index) {
        double seen = 0;
        for (Map.Entry<Double, Double> entry : counts.entrySet()) {
            seen += entry.getValue();
            if (index < seen - 1e-6) {
                return entry.getKey();
            }
        }
        return counts.lastKey();
    }
}

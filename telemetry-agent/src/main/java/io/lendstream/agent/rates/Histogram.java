package io.lendstream.agent.rates;

import io.lendstream.core.event.SizeCount;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A histogram with counts below upper bounds.
 *
 * @param counts count of each bar, by upper bound; the last may be infinite
 */
record Histogram(SortedMap<Double, Double> counts) {
    /** From cumulative counts; a decreasing count, which servers produce by racing updates, counts as equal. */
    static Histogram ofCumulative(SortedMap<Double, Double> cumulative) {
        var counts = new TreeMap<Double, Double>();
        double below = 0;
        for (Map.Entry<Double, Double> bar : cumulative.entrySet()) {
            double count = Math.max(0, bar.getValue() - below);
            counts.put(bar.getKey(), count);
            below += count;
        }
        return new Histogram(counts);
    }

    double total() {
        return counts.values().stream().mapToDouble(Double::doubleValue).sum();
    }

    /**
     * A quantile, and whether only a lower bound of it is known.
     *
     * @param beyond whether it lies above the last finite bound, which is then its value
     */
    record Quantile(double value, boolean beyond) {}

    /**
     * The value below which a share of all values lies, with values spread evenly within each bar, as Prometheus
     * computes it; the first bar starts at 0. Only for histograms with values and a finite bound.
     *
     * @param share above 0, at most 1
     */
    Quantile quantile(double share) {
        double rank = share * total();
        double lower = 0;
        double below = 0;
        for (Map.Entry<Double, Double> bar : counts.entrySet()) {
            double upper = bar.getKey();
            double count = bar.getValue();
            if (Double.isInfinite(upper)) {
                break;
            }
            if (count > 0 && below + count >= rank) {
                double from = Math.min(lower, upper);
                return new Quantile(Math.max(0, from + (upper - from) * (rank - below) / count), false);
            }
            below += count;
            lower = upper;
        }
        return new Quantile(Math.max(0, lower), true);
    }

    boolean hasQuantiles() {
        return total() > 0 && counts.firstKey() < Double.POSITIVE_INFINITY;
    }

    /** As bars of input sizes, without empty ones; values above the last finite bound are placed at it. */
    List<SizeCount> sizes() {
        var sizes = new TreeMap<Double, Long>();
        double finite = 0;
        for (Map.Entry<Double, Double> bar : counts.entrySet()) {
            finite = Double.isInfinite(bar.getKey()) ? finite : Math.max(0, bar.getKey());
            sizes.merge(finite, Math.round(bar.getValue()), Long::sum);
        }
        var counted = new ArrayList<SizeCount>();
        sizes.forEach((upTo, requests) -> {
            if (requests > 0) {
                counted.add(new SizeCount(upTo, requests));
            }
        });
        return counted;
    }
}

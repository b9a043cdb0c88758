package io.lendstream.benchmarks;

import java.util.Collection;

/** Quantiles of measurements. */
final class Quantiles {
    private Quantiles() {}

    /** Interpolates linearly between two values. */
    static double of(Collection<Double> values, double share) {
        double[] sorted = values.stream().mapToDouble(each -> each).sorted().toArray();
        if (sorted.length == 0) {
            return Double.NaN;
        }
        double at = share * (sorted.length - 1);
        int below = (int) at;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
    }

    /** 50, 99, 99.9. */
    static String name(double share) {
        String percent = String.valueOf(Math.round(share * 1000) / 10.0);
        return percent.endsWith(".0") ? percent.substring(0, percent.length() - 2) : percent;
    }
}

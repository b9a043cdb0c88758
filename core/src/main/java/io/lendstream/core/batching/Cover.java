package io.lendstream.core.batching;

import java.util.Arrays;
import java.util.Comparator;

/**
 * The instances by which a rate is served for least money: a covering knapsack, by branch and bound over the profiles, those that
 * serve for least first. Of a profile at most a few fewer than would do alone are tried, so that high rates take no longer.
 */
final class Cover {
    private static final int MOST_FEWER = 8;
    private static final double ENOUGH = 1e-9;

    private final double[] capacity;
    private final double[] prices;
    private final int[] order;
    private final double[] perRequest;
    private final int[] tried;
    private int[] best;
    private double least = Double.POSITIVE_INFINITY;

    private Cover(double[] capacity, double[] prices) {
        this.capacity = capacity;
        this.prices = prices;
        this.order = java.util.stream.IntStream.range(0, prices.length)
                .filter(profile -> capacity[profile] > 0)
                .boxed()
                .sorted(Comparator.comparingDouble(profile -> prices[profile] / capacity[profile]))
                .mapToInt(Integer::intValue)
                .toArray();
        this.perRequest = Arrays.stream(order)
                .mapToDouble(profile -> prices[profile] / capacity[profile])
                .toArray();
        this.tried = new int[prices.length];
        this.best = new int[prices.length];
    }

    /**
     * How many instances of each profile.
     *
     * @param capacity requests per second of an instance, by profile; 0 where it cannot serve
     * @param prices of an instance, by profile
     */
    static int[] of(double ratePerSecond, double[] capacity, double[] prices) {
        Cover cover = new Cover(capacity, prices);
        cover.branch(0, ratePerSecond, 0, ENOUGH * ratePerSecond);
        return cover.best;
    }

    private void branch(int depth, double left, double paid, double enough) {
        if (left <= enough) {
            if (paid < least) {
                least = paid;
                best = tried.clone();
            }
            return;
        }
        if (depth == order.length || paid + left * perRequest[depth] >= least) {
            return;
        }
        int profile = order[depth];
        int most = (int) Math.ceil((left - enough) / capacity[profile]);
        for (int count = most; count >= Math.max(0, most - MOST_FEWER); count--) {
            tried[profile] = count;
            branch(depth + 1, left - count * capacity[profile], paid + count * prices[profile], enough);
        }
        tried[profile] = 0;
    }
}

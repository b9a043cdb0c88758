package io.lendstream.core.batching;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * The cheapest instances that serve a rate: a covering knapsack, by branch and bound over the profiles, the cheapest
 * per request first. An early result is mostly the best; the search ends after a fixed number of branches.
 */
final class Cover {
    private static final int MOST_BRANCHES = 20_000;
    private static final double ENOUGH = 1e-9;

    private final double[] capacity;
    private final double[] prices;
    private final int[] order;
    private final double[] perRequest;
    private final double enough;
    private final double leastPaid;
    private final int[] tried;
    private int[] best;
    private double paid = Double.POSITIVE_INFINITY;
    private int branches;

    /**
     * Of a rate.
     *
     * @param capacity requests per second of an instance, by profile; 0 where it cannot serve
     * @param prices of an instance, by profile
     */
    Cover(double ratePerSecond, double[] capacity, double[] prices) {
        this.capacity = capacity;
        this.prices = prices;
        this.order = IntStream.range(0, prices.length)
                .filter(profile -> capacity[profile] > 0)
                .boxed()
                .sorted(Comparator.comparingDouble(profile -> prices[profile] / capacity[profile]))
                .mapToInt(Integer::intValue)
                .toArray();
        this.perRequest = Arrays.stream(order)
                .mapToDouble(profile -> prices[profile] / capacity[profile])
                .toArray();
        this.enough = ENOUGH * ratePerSecond;
        this.tried = new int[prices.length];
        this.best = new int[prices.length];
        branch(0, ratePerSecond, 0);
        this.leastPaid = branches < MOST_BRANCHES ? paid : ratePerSecond * perRequest[0];
    }

    /** How many of each profile. */
    int[] instances() {
        return best.clone();
    }

    /**
     * What no cover costs less than: what this costs, or where the search ended early, as if instances could be had in
     * parts.
     */
    double leastPaid() {
        return leastPaid;
    }

    private void branch(int depth, double left, double spent) {
        if (left <= enough) {
            if (spent < paid) {
                paid = spent;
                best = tried.clone();
            }
            return;
        }
        if (depth == order.length || spent + left * perRequest[depth] >= paid || branches >= MOST_BRANCHES) {
            return;
        }
        branches++;
        int profile = order[depth];
        int most = (int) Math.ceil((left - enough) / capacity[profile]);
        for (int count = most; count >= 0; count--) {
            tried[profile] = count;
            branch(depth + 1, left - count * capacity[profile], spent + count * prices[profile]);
        }
        tried[profile] = 0;
    }
}

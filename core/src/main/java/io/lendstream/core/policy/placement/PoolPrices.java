package io.lendstream.core.policy.placement;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * Prices of GPUs in several pools. The price of a pool rises while jobs that buy what suits them best want more than
 * the pool has, and falls while they want less.
 */
final class PoolPrices {
    private static final int ROUNDS = 40;
    private static final double FIRST_STEP = 0.5;
    private static final double NEXT_STEP = 0.9;
    private static final double NEARLY = 0.7;

    private final PooledValues values;
    private final double[] prices;

    PoolPrices(PooledValues values) {
        this.values = values;
        this.prices = new double[values.pools()];
        double worth = 0;
        int room = 0;
        for (int k = 0; k < prices.length; k++) {
            room += values.capacity(k);
        }
        for (int j = 0; j < values.jobs(); j++) {
            double most = 0;
            for (int k = 0; k < prices.length; k++) {
                most = Math.max(most, values.most(k, j));
            }
            worth += most;
        }
        Arrays.fill(prices, worth / Math.max(1, room));
        double step = FIRST_STEP;
        for (int round = 0; round < ROUNDS; round++) {
            long[] wanted = wanted();
            for (int k = 0; k < prices.length; k++) {
                double excess = (double) (wanted[k] - values.capacity(k)) / Math.max(1, values.capacity(k));
                prices[k] *= Math.exp(step * Math.max(-1, Math.min(1, excess)));
            }
            step *= NEXT_STEP;
        }
    }

    /** How much jobs want of each pool at the prices. */
    private long[] wanted() {
        long[] wanted = new long[prices.length];
        for (int j = 0; j < values.jobs(); j++) {
            double most = 0;
            int from = 0;
            int takes = 0;
            for (int k = 0; k < prices.length; k++) {
                double[] own = values.of(k, j);
                for (int w : values.corners(k, j)) {
                    if (own[w] - prices[k] * w > most) {
                        most = own[w] - prices[k] * w;
                        from = k;
                        takes = w;
                    }
                }
            }
            wanted[from] += takes;
        }
        return wanted;
    }

    /**
     * The pool where each job is worth the most beyond the price, in the room that is left there. Jobs with the most to
     * lose choose first. A job that may use no pool has -1.
     */
    int[] division() {
        int[] pools = new int[values.jobs()];
        int[] left = new int[prices.length];
        for (int k = 0; k < left.length; k++) {
            left[k] = values.capacity(k);
        }
        double[] regrets = new double[pools.length];
        for (int j = 0; j < regrets.length; j++) {
            regrets[j] = regret(j);
        }
        IntStream.range(0, pools.length)
                .boxed()
                .sorted(Comparator.comparingDouble((Integer j) -> regrets[j])
                        .reversed()
                        .thenComparing(Comparator.naturalOrder()))
                .forEachOrdered(j -> pools[j] = pool(j, left));
        return pools;
    }

    private int pool(int job, int[] left) {
        int pool = -1;
        double most = 0;
        int takes = 0;
        double leastBad = Double.NEGATIVE_INFINITY;
        for (int k = 0; k < prices.length; k++) {
            double[] own = values.of(k, job);
            for (int w = 1; w < own.length && w <= values.capacity(k); w++) {
                double surplus = own[w] - prices[k] * w;
                boolean fits = w <= left[k] && surplus > most;
                if (fits || (takes == 0 && surplus > leastBad)) {
                    pool = k;
                    takes = fits ? w : 0;
                    most = fits ? surplus : most;
                    leastBad = surplus;
                }
            }
        }
        if (takes > 0) {
            left[pool] -= takes;
        }
        return pool;
    }

    /** The most that a job is worth in a pool beyond the price; 0 if it is never worth more. */
    private double surplus(int pool, int job) {
        double[] own = values.of(pool, job);
        double most = 0;
        for (int w : values.corners(pool, job)) {
            most = Math.max(most, own[w] - prices[pool] * w);
        }
        return most;
    }

    /**
     * The pool where each job is worth the most beyond the price, with no regard to the room there.
     *
     * @param otherwise those of jobs that are worth their price nowhere
     */
    int[] wishes(int[] otherwise) {
        int[] pools = otherwise.clone();
        for (int j = 0; j < pools.length; j++) {
            double most = 0;
            for (int k = 0; k < prices.length; k++) {
                double surplus = surplus(k, j);
                if (surplus > most) {
                    most = surplus;
                    pools[j] = k;
                }
            }
        }
        return pools;
    }

    /** Whether a job is worth nearly the price of its GPUs in a pool, or more. */
    boolean suits(int pool, int job) {
        double[] own = values.of(pool, job);
        for (int w : values.corners(pool, job)) {
            if (own[w] >= NEARLY * prices[pool] * w) {
                return true;
            }
        }
        return false;
    }

    /** What a job loses with its second-best pool. */
    private double regret(int job) {
        double best = 0;
        double second = 0;
        for (int k = 0; k < prices.length; k++) {
            double most = surplus(k, job);
            second = Math.max(second, Math.min(best, most));
            best = Math.max(best, most);
        }
        return best - second;
    }
}

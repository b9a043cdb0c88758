package io.lendstream.core.policy.placement;

import java.util.Arrays;

/**
 * Prices of GPUs in several pools. The price of a pool rises while jobs that buy what suits them best want more than
 * the pool has, and falls while they want less.
 */
final class PoolPrices {
    private static final int ROUNDS = 16;
    /** The rounds in which of many jobs only a sample counts. */
    private static final int FIRST_ROUNDS = 10;

    private static final int SAMPLED = 4;
    private static final double FIRST_STEP = 0.5;
    private static final double LARGEST_STEP = 2;
    private static final double FASTER = 1.1;
    private static final double SLOWER = 0.7;
    private static final double NEARLY = 0.7;
    /** So near to the GPUs of each pool, as a share of them, prices are good enough. */
    private static final double SETTLED = 0.002;

    private final PooledValues values;
    private final double[] prices;
    /** By place: what the job is worth in the pool beyond the price. */
    private final double[] surplus;

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
        settle();
        this.surplus = surpluses();
    }

    /** Changes each price faster while it has to go on in one direction, and more slowly once it has gone too far. */
    private void settle() {
        Demand demand = new Demand();
        double[] steps = new double[prices.length];
        double[] before = new double[prices.length];
        Arrays.fill(steps, FIRST_STEP);
        double farthest = 1;
        for (int round = 0; round < ROUNDS && farthest > SETTLED; round++) {
            int every = round < FIRST_ROUNDS && values.jobs() >= PooledKnapsack.MANY ? SAMPLED : 1;
            long[] wanted = demand.at(prices, every);
            farthest = every - 1;
            for (int k = 0; k < prices.length; k++) {
                double excess = (double) (every * wanted[k] - values.capacity(k)) / Math.max(1, values.capacity(k));
                farthest = Math.max(farthest, Math.abs(excess));
                steps[k] = Math.min(LARGEST_STEP, steps[k] * (excess * before[k] < 0 ? SLOWER : FASTER));
                prices[k] *= Math.exp(steps[k] * Math.max(-1, Math.min(1, excess)));
                before[k] = excess;
            }
        }
    }

    /**
     * How much jobs want of each pool. From one round to the next most of them want the same, so that the search for
     * the best corner of a job in a pool begins at the last one.
     */
    private final class Demand {
        private final int pools = values.pools();
        /** By place: the end of the corners, in ascending order, that are worth their price. */
        private final int[] ends = new int[values.jobs() * pools];

        Demand() {
            for (int place = 0; place < ends.length; place++) {
                ends[place] = values.firstCorner(place);
            }
        }

        /** What one in so many jobs wants. */
        long[] at(double[] prices, int every) {
            long[] wanted = new long[pools];
            for (int j = 0; j < values.jobs(); j += every) {
                double most = 0;
                int from = 0;
                int takes = 0;
                int place = j * pools;
                for (int k = 0; k < pools; k++, place++) {
                    int last = end(place, prices[k]) - 1;
                    double surplus = values.worth(last) - prices[k] * values.size(last);
                    if (surplus > most) {
                        most = surplus;
                        from = k;
                        takes = values.size(last);
                    }
                }
                wanted[from] += takes;
            }
            return wanted;
        }

        private int end(int place, double price) {
            int before = ends[place];
            int end = before;
            while (values.gain(end) > price) {
                end++;
            }
            while (values.gain(end - 1) <= price) {
                end--;
            }
            if (end != before) {
                ends[place] = end;
            }
            return end;
        }
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
        for (int j : Ranks.descending(regrets)) {
            pools[j] = pool(j, left);
        }
        return pools;
    }

    private int pool(int job, int[] left) {
        int pool = -1;
        double most = 0;
        int takes = 0;
        double leastBad = Double.NEGATIVE_INFINITY;
        for (int k = 0; k < prices.length; k++) {
            if (takes > 0 && surplus(k, job) <= most) {
                continue;
            }
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
        return surplus[values.place(pool, job)];
    }

    /** What each place is worth beyond the price. */
    private double[] surpluses() {
        double[] found = new double[values.jobs() * prices.length];
        int place = 0;
        for (int j = 0; j < values.jobs(); j++) {
            for (double price : prices) {
                double most = 0;
                for (int c = values.firstCorner(place); c < values.endOfCorners(place); c++) {
                    most = Math.max(most, values.worth(c) - price * values.size(c));
                }
                found[place++] = most;
            }
        }
        return found;
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

    /** What a division is worth at most: GPUs at their prices, and what jobs are worth beyond the prices there. */
    double bound(int[] division) {
        double bound = 0;
        for (int k = 0; k < prices.length; k++) {
            bound += prices[k] * values.capacity(k);
        }
        for (int j = 0; j < division.length; j++) {
            bound += division[j] < 0 ? 0 : surplus(division[j], j);
        }
        return bound;
    }

    /** Whether a job is worth nearly the price of its GPUs in a pool, or more. */
    boolean suits(int pool, int job) {
        int place = values.place(pool, job);
        for (int c = values.firstCorner(place); c < values.endOfCorners(place); c++) {
            if (values.worth(c) >= NEARLY * prices[pool] * values.size(c)) {
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

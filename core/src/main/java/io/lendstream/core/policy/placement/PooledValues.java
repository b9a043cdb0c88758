package io.lendstream.core.policy.placement;

import java.util.Arrays;

/**
 * What jobs are worth in several pools, and how many GPUs the pools have. There is a place for each pool of a job, one
 * job after the other. Each place has corners: the sizes that are worth the most at some price, in ascending order.
 * Before its corners and after them is nothing: no GPUs, worth 0, with a gain that is not a number, so that no search
 * for a price goes beyond.
 */
final class PooledValues {
    private static final int USUAL_CORNERS = 5;

    /** By pool and job. */
    private final double[][][] values;

    private final int[] capacities;
    private final int jobs;
    private final int pools;
    /** Where the corners of each place begin. */
    private final int[] first;

    private int[] size = {};
    private double[] worth = {};
    /** What each corner is worth more than the one before, for each GPU more. */
    private double[] gain = {};

    /** @param values by pool and job, as {@link PooledKnapsack#choose} gets them; of at least one pool */
    PooledValues(double[][][] values, int[] capacities) {
        this.values = values;
        this.capacities = capacities;
        this.pools = capacities.length;
        this.jobs = values[0].length;
        this.first = new int[jobs * pools + 1];
        reserve(USUAL_CORNERS * jobs * pools + 1);
        first[0] = 1;
        addNothing(0);
        int place = 0;
        for (int j = 0; j < jobs; j++) {
            for (int k = 0; k < pools; k++) {
                int end = addCorners(values[k][j], capacities[k], first[place]);
                addNothing(end);
                place++;
                first[place] = end + 1;
            }
        }
    }

    int jobs() {
        return jobs;
    }

    int pools() {
        return pools;
    }

    int capacity(int pool) {
        return capacities[pool];
    }

    double[] of(int pool, int job) {
        return values[pool][job];
    }

    /** The place of a job in a pool. */
    int place(int pool, int job) {
        return job * pools + pool;
    }

    /** The first corner of a place. */
    int firstCorner(int place) {
        return first[place];
    }

    /** The end of the corners of a place. */
    int endOfCorners(int place) {
        return first[place + 1] - 1;
    }

    int size(int corner) {
        return size[corner];
    }

    double worth(int corner) {
        return worth[corner];
    }

    /** What a corner is worth more than the one before, for each GPU more; falls from corner to corner. */
    double gain(int corner) {
        return gain[corner];
    }

    /** Whether a job is worth anything in a pool. */
    boolean isWorth(int pool, int job) {
        int place = place(pool, job);
        return endOfCorners(place) > firstCorner(place);
    }

    /** The most that a job can be worth in a pool. */
    double most(int pool, int job) {
        return worth[endOfCorners(place(pool, job)) - 1];
    }

    /**
     * Finds the best sizes of some jobs in a pool; returns what they are worth.
     *
     * @param those the jobs
     * @param sizes where the sizes go, by job
     */
    double solve(int pool, int[] those, int[] sizes) {
        if (those.length == 0) {
            return 0;
        }
        double[][] own = new double[those.length][];
        for (int i = 0; i < own.length; i++) {
            own[i] = values[pool][those[i]];
        }
        int[] chosen = GroupKnapsack.choose(Arrays.asList(own), capacities[pool]);
        double sum = 0;
        for (int i = 0; i < chosen.length; i++) {
            sizes[those[i]] = chosen[i];
            sum += chosen[i] == 0 ? 0 : own[i][chosen[i]];
        }
        return sum;
    }

    private void reserve(int corners) {
        size = Arrays.copyOf(size, corners);
        worth = Arrays.copyOf(worth, corners);
        gain = Arrays.copyOf(gain, corners);
    }

    private void addNothing(int corner) {
        size[corner] = 0;
        worth[corner] = 0;
        gain[corner] = Double.NaN;
    }

    /** Adds the sizes on the concave hull of some values; returns the end of them. */
    private int addCorners(double[] own, int capacity, int from) {
        if (from + own.length >= size.length) {
            reserve(2 * size.length + own.length);
        }
        int most = Math.min(capacity, own.length - 1);
        int end = from;
        double last = 0;
        for (int w = 1; w <= most; w++) {
            double value = own[w];
            if (value <= last) {
                continue;
            }
            while (end > from && !isAbove(from, end, w, value)) {
                end--;
            }
            size[end] = w;
            worth[end++] = value;
            last = value;
        }
        double before = 0;
        int least = 0;
        for (int c = from; c < end; c++) {
            gain[c] = (worth[c] - before) / (size[c] - least);
            before = worth[c];
            least = size[c];
        }
        return end;
    }

    /** Whether the last corner so far is above the line from the one before to another size. */
    private boolean isAbove(int from, int end, int next, double value) {
        int middle = end - 1;
        boolean isFirst = middle == from;
        double start = isFirst ? 0 : worth[middle - 1];
        int least = isFirst ? 0 : size[middle - 1];
        return (worth[middle] - start) * (next - least) > (value - start) * (size[middle] - least);
    }
}

package io.lendstream.core.policy.placement;

import java.util.ArrayList;
import java.util.List;

/** What jobs are worth in several pools, and how many GPUs the pools have. */
final class PooledValues {
    /** By job and pool: a place for each pool of a job, one job after the other. */
    private final double[][] values;

    private final int[] capacities;
    private final int jobs;
    private final int pools;
    /** Where the corners of each place begin: the sizes that are worth the most at some price, in ascending order. */
    private final int[] first;

    private final int[] size;
    private final double[] worth;
    /** What each corner is worth more than the one before, for each GPU more. */
    private final double[] gain;

    /** @param values by pool and job, as {@link PooledKnapsack#choose} gets them; of at least one pool */
    PooledValues(List<List<double[]>> values, int[] capacities) {
        this.capacities = capacities.clone();
        this.pools = capacities.length;
        this.jobs = values.get(0).size();
        this.values = new double[jobs * pools][];
        int most = 0;
        for (int k = 0; k < pools; k++) {
            List<double[]> own = values.get(k);
            for (int j = 0; j < jobs; j++) {
                double[] sizes = own.get(j);
                this.values[place(k, j)] = sizes;
                most += sizes.length;
            }
        }
        this.first = new int[jobs * pools + 1];
        this.size = new int[most];
        this.worth = new double[most];
        this.gain = new double[most];
        for (int place = 0; place < this.values.length; place++) {
            first[place + 1] = addCorners(this.values[place], capacities[place % pools], first[place]);
        }
    }

    private int place(int pool, int job) {
        return job * pools + pool;
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
        return values[place(pool, job)];
    }

    /** The first corner of a job in a pool: a size that is worth the most at some price. */
    int firstCorner(int pool, int job) {
        return first[place(pool, job)];
    }

    /** The end of its corners, which ascend by their size. */
    int endOfCorners(int pool, int job) {
        return first[place(pool, job) + 1];
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
        return endOfCorners(pool, job) > firstCorner(pool, job);
    }

    /** The most that a job can be worth in a pool. */
    double most(int pool, int job) {
        return isWorth(pool, job) ? worth[endOfCorners(pool, job) - 1] : 0;
    }

    /**
     * Finds the best sizes of some jobs in a pool; returns what they are worth.
     *
     * @param sizes where the sizes go, by job
     */
    double solve(int pool, List<Integer> those, int[] sizes) {
        if (those.isEmpty()) {
            return 0;
        }
        List<double[]> own = new ArrayList<>();
        for (int job : those) {
            own.add(of(pool, job));
        }
        int[] chosen = GroupKnapsack.choose(own, capacities[pool]);
        double sum = 0;
        for (int i = 0; i < chosen.length; i++) {
            sizes[those.get(i)] = chosen[i];
            sum += chosen[i] == 0 ? 0 : own.get(i)[chosen[i]];
        }
        return sum;
    }

    /** Adds the sizes on the concave hull of some values; returns the end of them. */
    private int addCorners(double[] values, int capacity, int from) {
        int end = from;
        for (int w = 1; w < values.length && w <= capacity; w++) {
            if (values[w] <= (end == from ? 0 : worth[end - 1])) {
                continue;
            }
            while (end > from && !isAbove(from, end, w, values[w])) {
                end--;
            }
            size[end] = w;
            worth[end++] = values[w];
        }
        for (int c = from; c < end; c++) {
            gain[c] = c == from ? worth[c] / size[c] : (worth[c] - worth[c - 1]) / (size[c] - size[c - 1]);
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

package io.lendstream.core.policy.placement;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What jobs are worth in several pools, and how many GPUs the pools have. */
final class PooledValues {
    private final List<List<double[]>> values;
    private final int[] capacities;
    private final int jobs;
    /** By pool and job: the sizes that are worth the most at some price. */
    private final int[][][] corners;

    /** @param values by pool and job, as {@link PooledKnapsack#choose} gets them; of at least one pool */
    PooledValues(List<List<double[]>> values, int[] capacities) {
        this.values = values;
        this.capacities = capacities.clone();
        this.jobs = values.get(0).size();
        this.corners = new int[capacities.length][jobs][];
        for (int k = 0; k < capacities.length; k++) {
            for (int j = 0; j < jobs; j++) {
                corners[k][j] = corners(values.get(k).get(j), capacities[k]);
            }
        }
    }

    int jobs() {
        return jobs;
    }

    int pools() {
        return capacities.length;
    }

    int capacity(int pool) {
        return capacities[pool];
    }

    double[] of(int pool, int job) {
        return values.get(pool).get(job);
    }

    /** The sizes of a job in a pool that are worth the most at some price, in ascending order. */
    int[] corners(int pool, int job) {
        return corners[pool][job];
    }

    /** Whether a job is worth anything in a pool. */
    boolean isWorth(int pool, int job) {
        return corners[pool][job].length > 0;
    }

    /** The most that a job can be worth in a pool. */
    double most(int pool, int job) {
        int[] sizes = corners[pool][job];
        return sizes.length == 0 ? 0 : of(pool, job)[sizes[sizes.length - 1]];
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

    /** The sizes on the concave hull of the values. */
    private static int[] corners(double[] values, int capacity) {
        int[] hull = new int[values.length];
        int count = 0;
        for (int w = 1; w < values.length && w <= capacity; w++) {
            if (values[w] <= (count == 0 ? 0 : values[hull[count - 1]])) {
                continue;
            }
            while (count > 0 && !isAbove(values, count == 1 ? 0 : hull[count - 2], hull[count - 1], w)) {
                count--;
            }
            hull[count++] = w;
        }
        return Arrays.copyOf(hull, count);
    }

    /** Whether the middle size is above the line from the first to the last. */
    private static boolean isAbove(double[] values, int first, int middle, int last) {
        double from = first == 0 ? 0 : values[first];
        return (values[middle] - from) * (last - first) > (values[last] - from) * (middle - first);
    }
}

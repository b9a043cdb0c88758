package io.lendstream.core.lending;

import java.util.List;

/**
 * Chooses one size for every job so that the sum of values is greatest and the sizes fit: exact, by dynamic programming
 * in O(jobs x capacity x largest size).
 *
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023, ATS for training</a>
 */
final class GroupKnapsack {
    private GroupKnapsack() {}

    /**
     * The best sizes.
     *
     * @param values by job: {@code values[w]} is what the job is worth with {@code w} GPUs; {@code values[0]} with none.
     *     A choice that is not allowed is negative infinity
     * @return a size for each job, in their order; of equal plans, one that prefers the smallest sizes for the last jobs,
     *     but something to nothing
     */
    static int[] choose(List<double[]> values, int capacity) {
        int jobs = values.size();
        double[][] best = new double[jobs + 1][capacity + 1];
        int[][] choice = new int[jobs + 1][capacity + 1];
        for (int i = 1; i <= jobs; i++) {
            double[] value = values.get(i - 1);
            System.arraycopy(best[i - 1], 0, best[i], 0, capacity + 1);
            for (int w = 1; w < value.length && w <= capacity; w++) {
                for (int room = w; room <= capacity; room++) {
                    double sum = best[i - 1][room - w] + value[w];
                    if (sum > best[i][room] || (sum == best[i][room] && choice[i][room] == 0)) {
                        best[i][room] = sum;
                        choice[i][room] = w;
                    }
                }
            }
        }
        int[] sizes = new int[jobs];
        int room = capacity;
        for (int i = jobs; i >= 1; i--) {
            sizes[i - 1] = choice[i][room];
            room -= sizes[i - 1];
        }
        return sizes;
    }
}

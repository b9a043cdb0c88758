package io.lendstream.core.policy.placement;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Chooses one pool and a size there for every job so that the sum of values is large and the sizes fit their pools.
 *
 * <p>A price per GPU of each pool rises while jobs that buy what suits them best want more than the pool has, and falls
 * while they want less. At these prices, jobs with the most to lose choose first from what is left. Each pool is then
 * solved exactly by {@link GroupKnapsack}. At last single jobs are moved, and pairs exchanged, while that is worth
 * more: few jobs are tried often, thousands not at all. The result is not always the best, as the choice of pools is an
 * assignment problem.
 *
 * @see <a href="https://doi.org/10.1007/978-3-540-24777-7">Kellerer, Pferschy, Pisinger: Knapsack Problems, sections
 *     10 and 11: several knapsacks, and classes of items</a>
 */
public final class PooledKnapsack {
    private static final int ROUNDS = 40;
    private static final double FIRST_STEP = 0.5;
    private static final double NEXT_STEP = 0.9;
    /** Trials of moves, times jobs. */
    private static final int TRIALS = 4000;

    private static final double ROUNDING = 1e-9;

    private final List<List<double[]>> values;
    private final int[] capacities;
    private final int jobs;
    private final double[] prices;
    /** By pool and job: the sizes that are worth the most at some price. */
    private final int[][][] corners;

    private int[] pool;
    private int[] size;
    private final double[] worth;
    private int trials;

    /**
     * What was chosen for a job.
     *
     * @param pool the pool; -1 if the job may use none
     * @param size its size there; 0 for nothing
     */
    public record PoolChoice(int pool, int size) {}

    private PooledKnapsack(List<List<double[]>> values, int[] capacities) {
        this.values = values;
        this.capacities = capacities.clone();
        this.jobs = values.get(0).size();
        this.prices = new double[capacities.length];
        this.pool = new int[jobs];
        this.size = new int[jobs];
        this.worth = new double[capacities.length];
        this.trials = TRIALS / Math.max(1, jobs);
        this.corners = new int[capacities.length][jobs][];
        for (int k = 0; k < capacities.length; k++) {
            for (int j = 0; j < jobs; j++) {
                corners[k][j] = corners(values.get(k).get(j), capacities[k]);
            }
        }
    }

    /**
     * A choice for each job, in their order.
     *
     * @param values by pool and job: {@code values.get(pool).get(job)[w]} is what the job is worth with {@code w} GPUs
     *     of the pool, and nothing is worth 0. A size that is not allowed is negative infinity; a pool that is not
     *     allowed has no sizes
     * @param capacities GPUs of each pool
     */
    public static List<PoolChoice> choose(List<List<double[]>> values, int[] capacities) {
        if (values.isEmpty()) {
            return List.of();
        }
        PooledKnapsack knapsack = new PooledKnapsack(values, capacities);
        knapsack.findPrices();
        knapsack.assign();
        for (int k = 0; k < capacities.length; k++) {
            knapsack.worth[k] = knapsack.solve(k, knapsack.pool, knapsack.size);
        }
        while (knapsack.moves() || knapsack.exchanges()) {
            // Each pass is worth more than the one before.
        }
        return IntStream.range(0, knapsack.jobs)
                .mapToObj(j -> new PoolChoice(knapsack.pool[j], knapsack.size[j]))
                .toList();
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

    private void findPrices() {
        double most = 0;
        int room = 0;
        for (int capacity : capacities) {
            room += capacity;
        }
        for (int j = 0; j < jobs; j++) {
            double best = 0;
            for (int k = 0; k < capacities.length; k++) {
                int[] sizes = corners[k][j];
                best = Math.max(best, sizes.length == 0 ? 0 : values.get(k).get(j)[sizes[sizes.length - 1]]);
            }
            most += best;
        }
        Arrays.fill(prices, most / Math.max(1, room));
        double step = FIRST_STEP;
        for (int round = 0; round < ROUNDS; round++) {
            long[] wanted = wanted();
            for (int k = 0; k < capacities.length; k++) {
                double excess = (double) (wanted[k] - capacities[k]) / Math.max(1, capacities[k]);
                prices[k] *= Math.exp(step * Math.max(-1, Math.min(1, excess)));
            }
            step *= NEXT_STEP;
        }
    }

    /** How much jobs want of each pool at the prices. */
    private long[] wanted() {
        long[] wanted = new long[capacities.length];
        for (int j = 0; j < jobs; j++) {
            double most = 0;
            int from = 0;
            int takes = 0;
            for (int k = 0; k < capacities.length; k++) {
                double[] own = values.get(k).get(j);
                for (int w : corners[k][j]) {
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

    /** Gives each job the pool where it is worth the most beyond the price, in the room that is left there. */
    private void assign() {
        int[] left = capacities.clone();
        double[] regrets = new double[jobs];
        for (int j = 0; j < jobs; j++) {
            regrets[j] = regret(j);
        }
        IntStream.range(0, jobs)
                .boxed()
                .sorted(Comparator.comparingDouble((Integer j) -> regrets[j])
                        .reversed()
                        .thenComparing(Comparator.naturalOrder()))
                .forEachOrdered(j -> assign(j, left));
    }

    private void assign(int job, int[] left) {
        pool[job] = -1;
        double most = 0;
        int takes = 0;
        double leastBad = Double.NEGATIVE_INFINITY;
        for (int k = 0; k < capacities.length; k++) {
            double[] own = values.get(k).get(job);
            for (int w = 1; w < own.length && w <= capacities[k]; w++) {
                double surplus = own[w] - prices[k] * w;
                boolean fits = w <= left[k] && surplus > most;
                if (fits || (takes == 0 && surplus > leastBad)) {
                    pool[job] = k;
                    takes = fits ? w : 0;
                    most = fits ? surplus : most;
                    leastBad = surplus;
                }
            }
        }
        if (takes > 0) {
            left[pool[job]] -= takes;
        }
    }

    /** What a job loses with its second-best pool. */
    private double regret(int job) {
        double best = 0;
        double second = 0;
        for (int k = 0; k < capacities.length; k++) {
            double[] own = values.get(k).get(job);
            double most = 0;
            for (int w : corners[k][job]) {
                most = Math.max(most, own[w] - prices[k] * w);
            }
            second = Math.max(second, Math.min(best, most));
            best = Math.max(best, most);
        }
        return best - second;
    }

    /** The best sizes in a pool; returns their worth. */
    private double solve(int wanted, int[] pools, int[] sizes) {
        List<double[]> mine = new ArrayList<>();
        List<Integer> names = new ArrayList<>();
        for (int j = 0; j < jobs; j++) {
            if (pools[j] == wanted) {
                mine.add(values.get(wanted).get(j));
                names.add(j);
            }
        }
        if (mine.isEmpty()) {
            return 0;
        }
        int[] chosen = GroupKnapsack.choose(mine, capacities[wanted]);
        double sum = 0;
        for (int i = 0; i < chosen.length; i++) {
            sizes[names.get(i)] = chosen[i];
            sum += chosen[i] == 0 ? 0 : mine.get(i)[chosen[i]];
        }
        return sum;
    }

    private boolean moves() {
        boolean moved = false;
        for (int j = 0; j < jobs; j++) {
            for (int k = 0; k < capacities.length && pool[j] >= 0; k++) {
                if (k != pool[j] && corners[k][j].length > 0 && trials > 0) {
                    int[] next = pool.clone();
                    next[j] = k;
                    moved |= isBetter(next, pool[j], k);
                }
            }
        }
        return moved;
    }

    private boolean exchanges() {
        for (int i = 0; i < jobs; i++) {
            for (int j = i + 1; j < jobs && trials > 0; j++) {
                int one = pool[i];
                int other = pool[j];
                boolean may = one != other
                        && one >= 0
                        && other >= 0
                        && corners[other][i].length > 0
                        && corners[one][j].length > 0;
                if (may) {
                    int[] next = pool.clone();
                    next[i] = other;
                    next[j] = one;
                    if (isBetter(next, one, other)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /** Takes over other pools for jobs if that is worth more. */
    private boolean isBetter(int[] next, int one, int other) {
        trials--;
        int[] sizes = size.clone();
        double ofOne = solve(one, next, sizes);
        double ofOther = solve(other, next, sizes);
        double before = worth[one] + worth[other];
        if (ofOne + ofOther <= before + ROUNDING * (1 + before)) {
            return false;
        }
        pool = next;
        size = sizes;
        worth[one] = ofOne;
        worth[other] = ofOther;
        return true;
    }
}

package io.lendstream.core.policy.placement;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Chooses one pool and a size there for every job so that the sum of values is large and the sizes fit their pools.
 *
 * <p>Once the pool of each job is known, each pool is solved exactly by {@link GroupKnapsack}. For few jobs all
 * divisions among the pools are compared, for small pools {@link RoomProgram} finds the best one. Otherwise there are
 * several divisions to start from: where jobs are now; by {@link PoolPrices}; and where each is worth the most.
 * Then jobs are moved, alone or in pairs, while that is worth more, and the best result counts. Hundreds of jobs are
 * not moved: there, prices come close to the best. Jobs stay where they are if nothing else is worth more.
 *
 * @see <a href="https://doi.org/10.1007/978-3-540-24777-7">Kellerer, Pferschy, Pisinger: Knapsack Problems, sections
 *     10 and 11: several knapsacks, and classes of items</a>
 */
public final class PooledKnapsack {
    /** Trials of moves, times jobs. */
    private static final int TRIALS = 4000;
    /** So many jobs are not moved. */
    static final int MANY = 500;
    /** Sets of jobs, times pools, for which all divisions are tried. */
    private static final int MOST_SETS = 256;

    private static final double ROUNDING = 1e-9;

    private final PooledValues values;
    private final PoolPrices prices;
    private final int jobs;
    private final int pools;

    /**
     * What was chosen for a job.
     *
     * @param pool the pool; -1 if the job may use none
     * @param size its size there; 0 for nothing
     */
    public record PoolChoice(int pool, int size) {}

    private PooledKnapsack(PooledValues values) {
        this.values = values;
        this.prices = new PoolPrices(values);
        this.jobs = values.jobs();
        this.pools = values.pools();
    }

    /**
     * A choice for each job, in their order.
     *
     * @param values by pool and job: {@code values[pool][job][w]} is what the job is worth with {@code w} GPUs
     *     of the pool, and nothing is worth 0. A size that is not allowed is negative infinity; a pool that is not
     *     allowed has no sizes
     * @param capacities GPUs of each pool
     * @param now the pool in which each job is; -1 for none
     */
    public static List<PoolChoice> choose(double[][][] values, int[] capacities, int[] now) {
        return values.length == 0 ? List.of() : new PooledKnapsack(new PooledValues(values, capacities)).best(now);
    }

    private List<PoolChoice> best(int[] now) {
        int[] priced = prices.division();
        List<int[]> starts = new ArrayList<>();
        if (IntStream.of(now).anyMatch(pool -> pool >= 0)) {
            starts.add(kept(now, priced));
        }
        Optional<int[]> exact = exact(priced);
        exact.ifPresentOrElse(starts::add, () -> starts.add(priced));
        if (exact.isEmpty() && jobs >= MANY) {
            return bestOfMany(starts).choices();
        }
        if (exact.isEmpty()) {
            starts.add(prices.wishes(priced));
            starts.add(valued(priced));
        }
        List<Division> divisions = starts.stream().map(Division::new).toList();
        if (exact.isEmpty()) {
            improve(divisions);
        }
        Division best = divisions.get(0);
        for (Division next : divisions) {
            best = isMore(next.sum(), best.sum()) ? next : best;
        }
        return best.choices();
    }

    /** The best of several divisions, without working out those that cannot be worth as much as the last. */
    private Division bestOfMany(List<int[]> starts) {
        Division best = new Division(starts.get(starts.size() - 1));
        for (int[] start : starts.subList(0, starts.size() - 1)) {
            if (!isMore(best.sum(), prices.bound(start))) {
                Division other = new Division(start);
                best = isMore(best.sum(), other.sum()) ? best : other;
            }
        }
        return best;
    }

    /** The best pool of each job; empty if it would take long to find. */
    private Optional<int[]> exact(int[] priced) {
        int[] movable = IntStream.range(0, jobs).filter(this::isMovable).toArray();
        if (movable.length < Integer.SIZE - 1 && pools <= MOST_SETS >> movable.length) {
            return Optional.of(divided(movable, priced));
        }
        return RoomProgram.isShort(values) ? Optional.of(RoomProgram.division(values, priced)) : Optional.empty();
    }

    /** Spends the trials on the best division first. */
    private void improve(List<Division> divisions) {
        int trials = TRIALS / jobs;
        for (Division division : divisions.stream()
                .sorted(Comparator.comparingDouble(Division::sum).reversed())
                .toList()) {
            trials = division.improve(trials);
        }
    }

    private static boolean isMore(double sum, double before) {
        return sum > before + ROUNDING * (1 + before);
    }

    /** Whether a job is worth anything in some pool. */
    private boolean isMovable(int job) {
        for (int k = 0; k < pools; k++) {
            if (values.isWorth(k, job)) {
                return true;
            }
        }
        return false;
    }

    /** The pools in which jobs are; for other jobs those by prices. */
    private int[] kept(int[] now, int[] priced) {
        int[] start = priced.clone();
        for (int j = 0; j < jobs; j++) {
            if (now[j] >= 0 && values.isWorth(now[j], j)) {
                start[j] = now[j];
            }
        }
        return start;
    }

    /** The pools in which each job alone is worth the most. */
    private int[] valued(int[] priced) {
        int[] start = priced.clone();
        for (int j = 0; j < jobs; j++) {
            double most = 0;
            for (int k = 0; k < pools; k++) {
                if (values.most(k, j) > most) {
                    most = values.most(k, j);
                    start[j] = k;
                }
            }
        }
        return start;
    }

    /**
     * The best of all divisions of a few jobs among the pools: for each set of jobs, the most that the first pools are
     * worth with it.
     */
    private int[] divided(int[] movable, int[] priced) {
        int sets = 1 << movable.length;
        double[] sums = new double[sets];
        int[][] taken = new int[pools][sets];
        for (int k = 0; k < pools; k++) {
            int allowed = allowed(k, movable);
            double[] here = worthOfSets(k, movable, allowed);
            double[] next = sums.clone();
            for (int set = 0; set < sets; set++) {
                int most = set & allowed;
                for (int part = most; part > 0; part = (part - 1) & most) {
                    double sum = sums[set & ~part] + here[part];
                    if (sum > next[set]) {
                        next[set] = sum;
                        taken[k][set] = part;
                    }
                }
            }
            sums = next;
        }
        int[] start = priced.clone();
        int left = sets - 1;
        for (int k = pools - 1; k >= 0; k--) {
            int part = taken[k][left];
            for (int i = 0; i < movable.length; i++) {
                if (has(part, i)) {
                    start[movable[i]] = k;
                }
            }
            left &= ~part;
        }
        return start;
    }

    private static boolean has(int set, int member) {
        return ((set >> member) & 1) == 1;
    }

    /** The set of the jobs that are worth anything in a pool. */
    private int allowed(int pool, int[] movable) {
        int allowed = 0;
        for (int i = 0; i < movable.length; i++) {
            if (values.isWorth(pool, movable[i])) {
                allowed |= 1 << i;
            }
        }
        return allowed;
    }

    /** What a pool is worth with each set of the jobs that may use it. */
    private double[] worthOfSets(int pool, int[] movable, int allowed) {
        double[] worth = new double[1 << movable.length];
        int[] sizes = new int[jobs];
        for (int set = allowed; set > 0; set = (set - 1) & allowed) {
            int[] those = new int[Integer.bitCount(set)];
            int count = 0;
            for (int i = 0; i < movable.length; i++) {
                if (has(set, i)) {
                    those[count++] = movable[i];
                }
            }
            worth[set] = values.solve(pool, those, sizes);
        }
        return worth;
    }

    /** A pool for each job, and the best sizes there. */
    private final class Division {
        private int[] poolOf;
        private int[] sizes = new int[jobs];
        private double[] worth = new double[pools];
        private int trials;

        private Division(int[] start) {
            this.poolOf = start.clone();
            for (int k = 0; k < pools; k++) {
                worth[k] = values.solve(k, in(k, poolOf), sizes);
            }
        }

        private int[] in(int pool, int[] of) {
            int[] those = new int[jobs];
            int count = 0;
            for (int j = 0; j < jobs; j++) {
                if (of[j] == pool) {
                    those[count++] = j;
                }
            }
            return Arrays.copyOf(those, count);
        }

        private double sum() {
            double sum = 0;
            for (double each : worth) {
                sum += each;
            }
            return sum;
        }

        private List<PoolChoice> choices() {
            List<PoolChoice> choices = new ArrayList<>(jobs);
            for (int j = 0; j < jobs; j++) {
                choices.add(new PoolChoice(poolOf[j], sizes[j]));
            }
            return choices;
        }

        /** Moves jobs while that is worth more; returns the trials that are left. */
        private int improve(int most) {
            trials = most;
            while (moves() || chains()) {
                // Each pass is worth more than the one before.
            }
            return trials;
        }

        private boolean moves() {
            boolean moved = false;
            for (int j = 0; j < jobs; j++) {
                for (int k = 0; k < pools && poolOf[j] >= 0 && trials > 0; k++) {
                    if (k != poolOf[j] && prices.suits(k, j)) {
                        int[] next = poolOf.clone();
                        next[j] = k;
                        moved |= sizes[j] == 0 ? isBetter(next, k) : isBetter(next, poolOf[j], k);
                    }
                }
            }
            return moved;
        }

        /** Moves a job, and one of those in its next pool to a third one or, in exchange, to the first. */
        private boolean chains() {
            for (int i = 0; i < jobs; i++) {
                for (int j = 0; j < jobs && trials > 0; j++) {
                    int from = poolOf[i];
                    int over = poolOf[j];
                    if (from >= 0 && over >= 0 && from != over && prices.suits(over, i) && chain(i, j)) {
                        return true;
                    }
                }
            }
            return false;
        }

        private boolean chain(int first, int second) {
            int from = poolOf[first];
            int over = poolOf[second];
            for (int to = 0; to < pools && trials > 0; to++) {
                boolean isTried = to == from && second < first;
                if (to != over && prices.suits(to, second) && !isTried) {
                    int[] next = poolOf.clone();
                    next[first] = over;
                    next[second] = to;
                    if (to == from ? isBetter(next, from, over) : isBetter(next, from, over, to)) {
                        return true;
                    }
                }
            }
            return false;
        }

        /** Takes over other pools for jobs if that is worth more. */
        private boolean isBetter(int[] next, int... changed) {
            trials--;
            int[] then = sizes.clone();
            double[] worths = worth.clone();
            double before = 0;
            double after = 0;
            for (int k : changed) {
                worths[k] = values.solve(k, in(k, next), then);
                before += worth[k];
                after += worths[k];
            }
            if (!isMore(after, before)) {
                return false;
            }
            poolOf = next;
            sizes = then;
            worth = worths;
            return true;
        }
    }
}

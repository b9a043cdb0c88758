package io.lendstream.core.policy.placement;

import java.util.Arrays;
import java.util.List;

/**
 * Chooses one size for every job so that the sum of values is greatest and the sizes fit. It is exact, with the ties of
 * the plain dynamic program over jobs and room.
 *
 * <p>A price per GPU, at which jobs that buy what suits them best use about the whole capacity, bounds what any plan
 * can be worth. A plan falls short of the bound by what its jobs regret at that price and by the price of GPUs left
 * over. So the program need not visit states that already fall short by more than the best plan does in the end. How
 * much that is is tried out from little to more. With many jobs of different worth the best plan comes close to the
 * bound, and about O(1) states are left of each job: O(jobs x largest size). Where all jobs are alike, or few large
 * ones must fit, more are left, at worst all: O(jobs x capacity x largest size).
 *
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023, ATS for training</a>
 * @see <a href="https://doi.org/10.1007/978-3-540-24777-7">Kellerer, Pferschy, Pisinger: Knapsack Problems, sections
 *     5.1 and 11: bounds and reduction</a>
 */
public final class GroupKnapsack {
    /** Share of the bound that rounding may hide. */
    private static final double ROUNDING = 1e-10;

    private static final double FIRST_SHORTFALL = 1e-3;
    private static final double MORE_SHORTFALL = 4;
    private static final int PRICE_STEPS = 100;

    private final int jobs;
    private final int capacity;

    /**
     * Choices of all jobs in a row, from {@code first[job]} to {@code first[job + 1]}: nothing, then ascending sizes.
     */
    private final int[] first;

    private final int[] size;
    private final double[] value;

    private double price;
    /** What each job's best choice is worth beyond its price. */
    private final double[] surplus;

    private double[] best;
    /** Where the states of each job begin in {@link #best}, and which room the first stands for. */
    private final int[] offset;

    private final int[] leastRoom;

    private GroupKnapsack(List<double[]> values, int capacity) {
        this.jobs = values.size();
        this.capacity = capacity;
        this.first = new int[jobs + 1];
        int most = values.stream().mapToInt(choices -> choices.length + 1).sum();
        this.size = new int[most];
        this.value = new double[most];
        this.surplus = new double[jobs];
        this.offset = new int[jobs + 2];
        this.leastRoom = new int[jobs + 1];
        this.best = new double[Math.max(1024, 4 * jobs)];
        for (int i = 0; i < jobs; i++) {
            first[i + 1] = addChoices(values.get(i), first[i]);
        }
    }

    /**
     * The best sizes.
     *
     * @param values by job: {@code values[w]} is what the job is worth with {@code w} GPUs; nothing is worth 0. A
     *     choice that is not allowed is negative infinity
     * @return a size for each job, in their order; of equal plans, one that prefers the smallest sizes for the last
     *     jobs, but something to nothing
     */
    public static int[] choose(List<double[]> values, int capacity) {
        return new GroupKnapsack(values, capacity).sizes();
    }

    /** Leaves out sizes that are worth no more than a smaller one: the smaller one is always taken. */
    private int addChoices(double[] choices, int from) {
        int next = from;
        size[next] = 0;
        value[next++] = 0;
        double most = Double.NEGATIVE_INFINITY;
        for (int w = 1; w < choices.length && w <= capacity; w++) {
            if (choices[w] > most && choices[w] >= 0) {
                most = choices[w];
                size[next] = w;
                value[next++] = most;
            }
        }
        return next;
    }

    private int[] sizes() {
        int wanted = 0;
        for (int i = 0; i < jobs; i++) {
            wanted += size[first[i + 1] - 1];
        }
        if (wanted <= capacity) {
            return unlimited();
        }
        price = price();
        double bound = price * capacity;
        for (int i = 0; i < jobs; i++) {
            double most = 0;
            for (int k = first[i] + 1; k < first[i + 1]; k++) {
                most = Math.max(most, value[k] - price * size[k]);
            }
            surplus[i] = most;
            bound += most;
        }
        double shortfall = price * FIRST_SHORTFALL + bound * ROUNDING;
        while (!reaches(shortfall)) {
            shortfall *= MORE_SHORTFALL;
        }
        return traced();
    }

    /** Every job's best size, when all fit; of sizes that make no difference to the sum, the smallest. */
    private int[] unlimited() {
        double[] sum = new double[jobs + 1];
        for (int i = 0; i < jobs; i++) {
            sum[i + 1] = sum[i] + value[first[i + 1] - 1];
        }
        int[] sizes = new int[jobs];
        for (int i = 0; i < jobs; i++) {
            int k = Math.min(first[i] + 1, first[i + 1] - 1);
            while (sum[i] + value[k] < sum[i + 1]) {
                k++;
            }
            sizes[i] = size[k];
        }
        return sizes;
    }

    /** The least price at which jobs want no more than the capacity, by halving. */
    private double price() {
        double[] slopes = new double[first[jobs]];
        int[] widths = new int[first[jobs]];
        int count = 0;
        int[] hull = new int[longest()];
        for (int i = 0; i < jobs; i++) {
            hull[0] = first[i];
            int last = count - 1;
            for (int k = first[i] + 1; k < first[i + 1]; k++) {
                double slope = slope(hull[last - count + 1], k);
                while (last >= count && slopes[last] <= slope) {
                    last--;
                    slope = slope(hull[last - count + 1], k);
                }
                last++;
                slopes[last] = slope;
                hull[last - count + 1] = k;
            }
            for (int c = 1; count <= last; c++) {
                widths[count++] = size[hull[c]] - size[hull[c - 1]];
            }
        }
        return halved(slopes, widths, count);
    }

    /** The most choices of a job. */
    private int longest() {
        int longest = 1;
        for (int i = 0; i < jobs; i++) {
            longest = Math.max(longest, first[i + 1] - first[i]);
        }
        return longest;
    }

    /** The price, from the GPUs more and what each of them is worth, from corner to corner of all jobs. */
    private double halved(double[] slopes, int[] widths, int corners) {
        int count = corners;
        double low = 0;
        double high = 0;
        for (int k = 0; k < count; k++) {
            high = Math.max(high, slopes[k]);
        }
        int above = 0;
        for (int step = 0; step < PRICE_STEPS && high - low > Math.ulp(high); step++) {
            double middle = (low + high) / 2;
            int wanted = above;
            for (int k = 0; k < count; k++) {
                wanted += slopes[k] > middle ? widths[k] : 0;
            }
            boolean isLow = wanted > capacity;
            low = isLow ? middle : low;
            high = isLow ? high : middle;
            above = isLow ? above : wanted;
            // Slopes up to the low price never count again, those above the high price always do.
            int left = 0;
            for (int k = 0; k < count; k++) {
                if (slopes[k] > middle == isLow) {
                    slopes[left] = slopes[k];
                    widths[left++] = widths[k];
                }
            }
            count = left;
        }
        return high;
    }

    private double slope(int from, int to) {
        return (value[to] - value[from]) / (size[to] - size[from]);
    }

    /**
     * Runs the program over states that fall short of the bound by no more than this; whether one has the whole
     * capacity.
     */
    private boolean reaches(double shortfall) {
        int width = price > 0 ? (int) Math.min(capacity, shortfall / price) + 1 : capacity + 1;
        reserve(width);
        Arrays.fill(best, 0, width, 0);
        offset[0] = 0;
        offset[1] = width;
        leastRoom[0] = 0;
        double ceiling = 0;
        for (int i = 0; i < jobs; i++) {
            ceiling += surplus[i];
            if (!extend(i, ceiling, shortfall)) {
                return false;
            }
        }
        return isState(jobs, capacity);
    }

    /**
     * Adds a job to the states.
     *
     * @param ceiling what it and the jobs before it can be worth at most, beyond the price of the room they take
     * @return false if no state is left
     */
    private boolean extend(int job, double ceiling, double shortfall) {
        int from = offset[job];
        int width = offset[job + 1] - from;
        int to = offset[job + 1];
        int least = capacity;
        int most = 0;
        for (int k = first[job]; k < first[job + 1]; k++) {
            if (regret(job, k) <= shortfall) {
                least = Math.min(least, size[k]);
                most = size[k];
            }
        }
        int roomOfFirst = leastRoom[job] + least;
        int reach = Math.min(capacity - roomOfFirst + 1, width + most - least);
        if (reach <= 0) {
            return false;
        }
        reserve(to + reach);
        Arrays.fill(best, to, to + reach, Double.NEGATIVE_INFINITY);
        for (int k = first[job]; k < first[job + 1]; k++) {
            if (regret(job, k) <= shortfall) {
                int shift = to + size[k] - least;
                int fit = Math.min(width, to + reach - shift);
                double more = value[k];
                for (int s = 0; s < fit; s++) {
                    best[shift + s] = Math.max(best[shift + s], best[from + s] + more);
                }
            }
        }
        return trim(job, reach, roomOfFirst, ceiling, shortfall);
    }

    /** Keeps the new states of a job from the first to the last that can still be a part of the best division. */
    private boolean trim(int job, int reach, int roomOfFirst, double ceiling, double shortfall) {
        int to = offset[job + 1];
        int begin = reach;
        int end = 0;
        for (int s = 0; s < reach; s++) {
            if (ceiling + price * (roomOfFirst + s) - best[to + s] > shortfall) {
                best[to + s] = Double.NEGATIVE_INFINITY;
            } else {
                begin = Math.min(begin, s);
                end = s + 1;
            }
        }
        if (begin >= end) {
            return false;
        }
        System.arraycopy(best, to + begin, best, to, end - begin);
        leastRoom[job + 1] = roomOfFirst + begin;
        offset[job + 2] = to + end - begin;
        return true;
    }

    private void reserve(int length) {
        if (length > best.length) {
            best = Arrays.copyOf(best, Math.max(length, 2 * best.length));
        }
    }

    private double regret(int job, int choice) {
        return surplus[job] - (value[choice] - price * size[choice]);
    }

    private boolean isState(int stage, int room) {
        int place = room - leastRoom[stage];
        return place >= 0 && place < offset[stage + 1] - offset[stage] && best(stage, room) >= 0;
    }

    private double best(int stage, int room) {
        return best[offset[stage] + room - leastRoom[stage]];
    }

    /** Finds the choices that led to the best sum, from the last job to the first. */
    private int[] traced() {
        int[] sizes = new int[jobs];
        int room = capacity;
        for (int i = jobs - 1; i >= 0; i--) {
            double sum = best(i + 1, room);
            for (int k = first[i] + 1; k < first[i + 1] && sizes[i] == 0; k++) {
                int rest = room - size[k];
                if (isState(i, rest) && best(i, rest) + value[k] == sum) {
                    sizes[i] = size[k];
                }
            }
            room -= sizes[i];
        }
        return sizes;
    }
}

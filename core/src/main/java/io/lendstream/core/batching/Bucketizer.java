package io.lendstream.core.batching;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.IntToDoubleFunction;

/**
 * Divides inputs of all sizes into few buckets, each padded to its upper edge, so that padding costs least.
 *
 * @param cost of computing an input of a size, as learned; grows with the size
 * @param largest size that the model takes: the last edge, whatever has come so far
 * @param mostBuckets at least 1
 */
public record Bucketizer(IntToDoubleFunction cost, int largest, int mostBuckets) {
    /** The share of the remaining cost that one more bucket must save. */
    private static final double WORTH_A_BUCKET = .03;
    /** Other edges must save this share, for shapes have to be made ready. */
    private static final double WORTH_A_CHANGE = .05;

    /** Sizes that engines are made for: powers of two and, from 16 on, the halves and quarters between. */
    private static final int FINEST = 16;

    public Bucketizer {
        if (largest < 1 || mostBuckets < 1) {
            throw new IllegalArgumentException(
                    "largest size and number of buckets must be at least 1, but are %d and %d"
                            .formatted(largest, mostBuckets));
        }
    }

    /** Where buckets may end, ascending; the largest size among them. */
    List<Integer> candidates() {
        SortedSet<Integer> candidates = new TreeSet<>();
        for (int power = 1; power < largest; power *= 2) {
            candidates.add(power);
            for (int quarter = 1; quarter < 4 && power >= FINEST; quarter++) {
                candidates.add(power + quarter * power / 4);
            }
        }
        candidates.removeIf(size -> size >= largest);
        candidates.add(largest);
        return List.copyOf(candidates);
    }

    /** The smallest size at or above one that engines are made for, and a bucket may end at. */
    static int roundedUp(int size) {
        if (size <= FINEST) {
            return size <= 1 ? 1 : 2 * Integer.highestOneBit(size - 1);
        }
        int quarter = Integer.highestOneBit(size - 1) / 4;
        return (size + quarter - 1) / quarter * quarter;
    }

    /**
     * The edges that cost least for some number of buckets; O(candidates^2 buckets).
     *
     * @return ascending, the largest size last; fewer where there are fewer candidates
     */
    public List<Integer> edges(SizeHistogram sizes, int buckets) {
        List<Integer> candidates = candidates();
        int n = candidates.size();
        int most = Math.min(buckets, n);
        double[] below = candidates.stream().mapToDouble(sizes::upTo).toArray();
        double[][] least = new double[most + 1][n];
        int[][] before = new int[most + 1][n];
        for (double[] row : least) {
            Arrays.fill(row, Double.POSITIVE_INFINITY);
        }
        for (int end = 0; end < n; end++) {
            least[1][end] = below[end] * cost.applyAsDouble(candidates.get(end));
            before[1][end] = -1;
        }
        for (int count = 2; count <= most; count++) {
            for (int end = count - 1; end < n; end++) {
                double each = cost.applyAsDouble(candidates.get(end));
                for (int start = count - 2; start < end; start++) {
                    double sum = least[count - 1][start] + (below[end] - below[start]) * each;
                    if (sum < least[count][end]) {
                        least[count][end] = sum;
                        before[count][end] = start;
                    }
                }
            }
        }
        List<Integer> edges = new ArrayList<>();
        int count = most;
        for (int end = n - 1; end >= 0; end = before[count--][end]) {
            edges.add(0, candidates.get(end));
        }
        return edges;
    }

    /** What inputs cost with these edges, padding included; those above the last edge count as of its size. */
    public double cost(SizeHistogram sizes, List<Integer> edges) {
        double sum = 0;
        double below = 0;
        for (int i = 0; i < edges.size(); i++) {
            double upTo = i == edges.size() - 1 ? sizes.total() : sizes.upTo(edges.get(i));
            sum += (upTo - below) * cost.applyAsDouble(edges.get(i));
            below = upTo;
        }
        return sum;
    }

    /** As many buckets as are worth it: one more is not, if it saves less than three per cent. */
    public List<Integer> best(SizeHistogram sizes) {
        List<Integer> edges = edges(sizes, 1);
        for (int buckets = 2; buckets <= mostBuckets; buckets++) {
            List<Integer> more = edges(sizes, buckets);
            double now = cost(sizes, edges);
            if (now - cost(sizes, more) < WORTH_A_BUCKET * now) {
                break;
            }
            edges = more;
        }
        return edges;
    }

    /** What to use next: the edges in use, unless the best save more than five per cent. */
    public List<Integer> next(SizeHistogram sizes, List<Integer> inUse) {
        List<Integer> best = best(sizes);
        boolean usable = !inUse.isEmpty() && inUse.get(inUse.size() - 1) >= largest;
        return usable && cost(sizes, inUse) - cost(sizes, best) <= WORTH_A_CHANGE * cost(sizes, inUse) ? inUse : best;
    }
}

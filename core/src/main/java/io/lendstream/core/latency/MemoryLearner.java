package io.lendstream.core.latency;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;

/**
 * The batches of one model that fit the memory of instances of one kind of GPU. It is an immutable value; each
 * observation gives the next.
 *
 * <pre>
 * mem(b, s) = W + k b s       by least squares of the memory used
 * </pre>
 *
 * A batch is thought to fit if all of this holds of its work {@code b s}, in inputs of the largest size:
 *
 * <ul>
 *   <li>it is less than all that ran out of memory on an instance of as much memory or more: these are hard limits;
 *   <li>it is no more than the work that has run on an instance of as much memory or less, or n times the work that has
 *       run in an n-th of the memory, because {@code W} is needed only once; or, if memory was measured with two
 *       different loads, no more than twice the work that has run anywhere;
 *   <li>where memory was measured so, its memory with a reserve of 5 % is no more than there is, unless it has run
 *       already.
 * </ul>
 *
 * Twice, because a line that holds for small batches need not hold for large ones, and each step is measured again. It
 * keeps six sums, and no more points than the kind of GPU has sizes of memory.
 *
 * @param ran the most work that ran, by memory; ascending in both
 * @param ranOut the least work that did not, by memory; ascending in both
 * @param used sums over the measurements
 */
public record MemoryLearner(List<Point> ran, List<Point> ranOut, Sums used) {
    public static final MemoryLearner EMPTY = new MemoryLearner(List.of(), List.of(), new Sums(0, 0, 0, 0, 0));

    private static final double RESERVE = 1.05;
    private static final double BEYOND = 2;
    private static final double BYTES_PER_GIB = 1L << 30;
    /** The tolerance for rounding, so that a batch that ran still fits after a division by its size. */
    private static final double ROUNDING = 1e-9;

    /** Work on an instance of so much memory. */
    public record Point(double memoryGib, double work) {}

    /**
     * Of a straight line of bytes over work: how many, and sums of work, gibibytes, squared work, and their product.
     */
    public record Sums(long count, double work, double gib, double workSquared, double product) {
        private Sums with(double moreWork, double moreGib) {
            return new Sums(
                    count + 1,
                    work + moreWork,
                    gib + moreGib,
                    workSquared + moreWork * moreWork,
                    product + moreWork * moreGib);
        }

        private double variation() {
            return workSquared - work * work / Math.max(1, count);
        }

        private boolean makesALine() {
            return variation() > ROUNDING * workSquared;
        }

        private double gibPerWork() {
            return Math.max(0, (product - work * gib / count) / variation());
        }

        /** What it takes without any work. */
        private double gibAtRest() {
            return Math.max(0, (gib - gibPerWork() * work) / count);
        }
    }

    public MemoryLearner {
        ran = List.copyOf(ran);
        ranOut = List.copyOf(ranOut);
    }

    /**
     * With a batch that an instance held, or that is declared to fit.
     *
     * @param memoryGib of the instance
     * @param size of each input, as a share of the model's largest
     * @param usedBytes of the instance's memory, where it was measured
     */
    public MemoryLearner ran(double memoryGib, int batch, double size, Optional<Long> usedBytes) {
        Point point = point(memoryGib, batch, size);
        return new MemoryLearner(
                with(ran, point, MemoryLearner::isProvedBy),
                ranOut,
                usedBytes
                        .map(bytes -> used.with(point.work, bytes / BYTES_PER_GIB))
                        .orElse(used));
    }

    /** With a batch that an instance ran out of memory with. */
    public MemoryLearner ranOut(double memoryGib, int batch, double size) {
        return new MemoryLearner(
                ran, with(ranOut, point(memoryGib, batch, size), (less, limit) -> isProvedBy(limit, less)), used);
    }

    private static Point point(double memoryGib, int batch, double size) {
        if (!(memoryGib > 0) || batch < 1 || !(size > 0 && size <= 1)) {
            throw new IllegalArgumentException(
                    "an instance must have memory, a batch at least 1 input, and this a size above 0 and at most 1, but they are %s GiB, %d and %s"
                            .formatted(memoryGib, batch, size));
        }
        return new Point(memoryGib, batch * size);
    }

    /** Whether one batch runs, as another did with no less work on no more memory. */
    private static boolean isProvedBy(Point one, Point other) {
        return other.memoryGib <= one.memoryGib && other.work >= one.work;
    }

    /** With a point more, and without those that another proves. */
    private static List<Point> with(List<Point> points, Point more, BiPredicate<Point, Point> isProvedBy) {
        if (points.stream().anyMatch(point -> isProvedBy.test(more, point))) {
            return points;
        }
        List<Point> kept = new ArrayList<>(points);
        kept.removeIf(point -> isProvedBy.test(point, more));
        kept.add(more);
        kept.sort(Comparator.comparingDouble(Point::memoryGib));
        return kept;
    }

    /**
     * The largest batch that is thought to fit; 0 if there is none, or nothing is known.
     *
     * @param memoryGib usable, of an instance; in memory slices if all points are, and no bytes were measured
     * @param size of each input, as a share of the model's largest
     */
    public int largestBatch(double memoryGib, double size) {
        point(memoryGib, 1, size);
        double proved = ran.stream()
                .filter(point -> point.memoryGib <= memoryGib)
                .mapToDouble(point -> point.work * memoryGib / point.memoryGib)
                .max()
                .orElse(0);
        int batch = (int) Math.floor(Math.max(proved, expected(memoryGib)) / size * (1 + ROUNDING));
        double limit = ranOut.stream()
                .filter(point -> point.memoryGib >= memoryGib)
                .mapToDouble(Point::work)
                .min()
                .orElse(Double.POSITIVE_INFINITY);
        int below = (int) Math.ceil(limit / size * (1 - ROUNDING)) - 1;
        return Math.min(batch, below);
    }

    /** The most work that should fit by the measurements; 0 if they are not sufficient. */
    private double expected(double memoryGib) {
        if (!used.makesALine()) {
            return 0;
        }
        double room = memoryGib / RESERVE - used.gibAtRest();
        if (room <= 0) {
            return 0;
        }
        double most = ran.stream().mapToDouble(Point::work).max().orElse(0);
        return Math.min(BEYOND * most, room / used.gibPerWork());
    }
}

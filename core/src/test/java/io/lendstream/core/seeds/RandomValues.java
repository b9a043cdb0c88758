package io.lendstream.core.seeds;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;

/**
 * Random values of given ranges, from one seed. One value in ten is an edge of its range, and for one seed in twenty
 * all values are edges. Half of the other values are uniform. The rest are uniform in their logarithm, so that small
 * values are frequent.
 */
public final class RandomValues {
    private static final double EDGES = .1;
    private static final double SEEDS_WITH_EDGES_ONLY = .05;
    private static final double SMALLEST_SHARE = 1e-4;

    private final Random random;
    private final double edges;

    public RandomValues(long seed) {
        // The first values of a Random are nearly the same for all small seeds.
        this.random = new Random(new SplittableRandom(seed).nextLong());
        this.edges = random.nextDouble() < SEEDS_WITH_EDGES_ONLY ? 1 : EDGES;
    }

    /** The source of all values, for what needs no edges. */
    public Random random() {
        return random;
    }

    /** Any whole number; see {@link #intBetween}. */
    public int anyInt() {
        return intBetween(Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    /**
     * A whole number of a range that includes its bounds. Edges are the bounds, the numbers next to them, and -2 to 2.
     */
    public int intBetween(int min, int max) {
        if (random.nextDouble() < edges) {
            List<Long> near = LongStream.of(min, min + 1L, max - 1L, max, -2, -1, 0, 1, 2)
                    .filter(edge -> edge >= min && edge <= max)
                    .distinct()
                    .boxed()
                    .toList();
            return oneOf(near).intValue();
        }
        long uniform = min + (long) (random.nextDouble() * (max + 1L - min));
        long nearestToZero = Math.max(min, Math.min(max, 0));
        long distance = uniform - nearestToZero;
        long closer = (long) StrictMath.pow((double) Math.abs(distance), random.nextDouble());
        return (int) (random.nextBoolean() ? uniform : nearestToZero + Long.signum(distance) * closer);
    }

    /**
     * A number of a range that includes its bounds. Edges are the bounds, 0, 0.01 and 1, and the negatives of these.
     */
    public double doubleBetween(double min, double max) {
        if (random.nextDouble() < edges) {
            List<Double> near = DoubleStream.of(min, max, -1, -.01, 0, .01, 1)
                    .filter(edge -> edge >= min && edge <= max)
                    .distinct()
                    .boxed()
                    .toList();
            return oneOf(near);
        }
        double uniform = min + random.nextDouble() * (max - min);
        double nearestToZero = Math.max(min, Math.min(max, 0));
        double share = StrictMath.pow(SMALLEST_SHARE, random.nextDouble());
        return random.nextBoolean() ? uniform : nearestToZero + share * (uniform - nearestToZero);
    }

    public <T> T oneOf(List<T> values) {
        return values.get(random.nextInt(values.size()));
    }

    /** As many values as {@link #intBetween} gives for the bounds of the size. */
    public <T> List<T> listOf(int minSize, int maxSize, Supplier<T> value) {
        List<T> list = new ArrayList<>();
        for (int left = intBetween(minSize, maxSize); left > 0; left--) {
            list.add(value.get());
        }
        return list;
    }
}

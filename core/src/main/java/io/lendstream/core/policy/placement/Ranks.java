package io.lendstream.core.policy.placement;

/**
 * Orders of many numbers, by {@link Double#compare}. They are sorted digit by digit, which takes O(numbers) and no
 * objects.
 */
public final class Ranks {
    private static final int DIGITS = Long.BYTES;
    private static final int VALUES = 1 << Byte.SIZE;

    private Ranks() {}

    /** The places of numbers, the least number first; equal ones in the order of their places. */
    public static int[] ascending(double[] numbers) {
        return sorted(numbers, 0);
    }

    /** The places of numbers, the greatest number first; equal ones in the order of their places. */
    public static int[] descending(double[] numbers) {
        return sorted(numbers, -1L);
    }

    /** @param flipped the bits to flip in each key */
    private static int[] sorted(double[] numbers, long flipped) {
        int count = numbers.length;
        long[] keys = new long[count];
        int[] places = new int[count];
        int[] counts = new int[DIGITS * VALUES];
        for (int i = 0; i < count; i++) {
            long bits = Double.doubleToLongBits(numbers[i]);
            // As numbers without a sign, these ascend with the doubles.
            long key = bits ^ ((bits >> (Long.SIZE - 1)) | Long.MIN_VALUE) ^ flipped;
            keys[i] = key;
            places[i] = i;
            for (int d = 0; d < DIGITS; d++) {
                counts[d * VALUES + digit(key, d)]++;
            }
        }
        long[] nextKeys = new long[count];
        int[] nextPlaces = new int[count];
        for (int d = 0; d < DIGITS; d++) {
            if (count == 0 || counts[d * VALUES + digit(keys[0], d)] == count) {
                continue;
            }
            addUp(counts, d * VALUES);
            for (int i = 0; i < count; i++) {
                int to = counts[d * VALUES + digit(keys[i], d)]++;
                nextKeys[to] = keys[i];
                nextPlaces[to] = places[i];
            }
            long[] otherKeys = keys;
            keys = nextKeys;
            nextKeys = otherKeys;
            int[] otherPlaces = places;
            places = nextPlaces;
            nextPlaces = otherPlaces;
        }
        return places;
    }

    private static int digit(long key, int number) {
        return (int) (key >>> (number * Byte.SIZE)) & (VALUES - 1);
    }

    /** Turns how often each value of a digit is there into where its keys begin. */
    private static void addUp(int[] counts, int from) {
        int sum = 0;
        for (int v = from; v < from + VALUES; v++) {
            int own = counts[v];
            counts[v] = sum;
            sum += own;
        }
    }
}

package io.lendstream.core.policy.placement;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RanksTest {
    private static final double[] SPECIAL = {
        0, -0.0, 1, -1, Double.MIN_VALUE, Double.NaN, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY
    };

    @Test
    void ordersAsAComparatorDoesAndKeepsEqualNumbersInTheirOrder() {
        SplittableRandom random = new SplittableRandom(1);
        for (int run = 0; run < 500; run++) {
            double[] numbers = numbers(random, random.nextInt(40), run % 3);
            Comparator<Integer> byNumber = Comparator.comparingDouble(i -> numbers[i]);

            assertThat(Ranks.ascending(numbers)).as("run %d", run).isEqualTo(sorted(numbers.length, byNumber));
            assertThat(Ranks.descending(numbers))
                    .as("run %d", run)
                    .isEqualTo(sorted(numbers.length, byNumber.reversed()));
        }
    }

    private static double[] numbers(SplittableRandom random, int count, int sort) {
        double[] numbers = new double[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = switch (sort) {
                case 0 -> random.nextInt(10);
                case 1 -> random.nextDouble(-1e6, 1e6);
                default -> SPECIAL[random.nextInt(SPECIAL.length)];
            };
        }
        return numbers;
    }

    private static int[] sorted(int count, Comparator<Integer> order) {
        return IntStream.range(0, count)
                .boxed()
                .sorted(order)
                .mapToInt(Integer::intValue)
                .toArray();
    }
}

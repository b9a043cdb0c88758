package io.lendstream.core.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CoverTest {
    @Test
    void smallInstancesFillWhatLargeOnesLeave() {
        double[] capacity = {70, 25, 9};
        double[] price = {1, .4, .15};

        assertThat(new Cover(150, capacity, price).instances()).containsExactly(2, 0, 2);
    }

    @Test
    void instancesThatCannotServeAreNotTaken() {
        assertThat(new Cover(100, new double[] {60, 0}, new double[] {1, .01}).instances())
                .containsExactly(2, 0);
    }

    @Test
    void noOtherInstancesServeARateForLess() {
        SplittableRandom random = new SplittableRandom(3);
        for (int run = 0; run < 2000; run++) {
            double[] capacity = new double[3];
            double[] price = new double[3];
            for (int i = 0; i < 3; i++) {
                capacity[i] = 1 + 9 * random.nextDouble();
                price[i] = capacity[i] * (.8 + .4 * random.nextDouble());
            }
            double rate = 1 + 30 * random.nextDouble();

            Cover found = new Cover(rate, capacity, price);
            int[] cover = found.instances();

            assertThat(sum(cover, capacity)).isGreaterThanOrEqualTo(rate * (1 - 1e-9));
            assertThat(sum(cover, price))
                    .as("run %d", run)
                    .isCloseTo(leastPrice(rate, capacity, price), within(1e-9))
                    .isCloseTo(found.leastPaid(), within(1e-9));
        }
    }

    @Test
    void whereTheSearchEndsEarlyNoMoreIsPromisedThanHolds() {
        double[] alike = {1.01, 1.03, 1.07, 1.09};
        Cover cover = new Cover(500.5, alike, alike);

        assertThat(cover.leastPaid()).isLessThanOrEqualTo(500.5 + 1e-9);
        assertThat(sum(cover.instances(), alike)).isBetween(500.5, 501.6);
    }

    private static double sum(int[] counts, double[] values) {
        double sum = 0;
        for (int i = 0; i < counts.length; i++) {
            sum += counts[i] * values[i];
        }
        return sum;
    }

    private static double leastPrice(double rate, double[] capacity, double[] price) {
        double least = Double.POSITIVE_INFINITY;
        for (int a = 0; a * capacity[0] < rate + capacity[0]; a++) {
            for (int b = 0; b * capacity[1] < rate + capacity[1]; b++) {
                double left = rate - a * capacity[0] - b * capacity[1];
                int c = (int) Math.max(0, Math.ceil(left / capacity[2]));
                least = Math.min(least, a * price[0] + b * price[1] + c * price[2]);
            }
        }
        return least;
    }
}

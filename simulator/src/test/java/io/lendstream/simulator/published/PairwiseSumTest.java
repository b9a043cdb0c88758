package io.lendstream.simulator.published;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PairwiseSumTest {
    @Test
    void addsFewNumbersFromTheLeft() {
        assertThat(PairwiseSum.of(new double[] {1e16, 1, 1})).isEqualTo(1e16);
    }

    @Test
    void addsManyInEightLanes() {
        double[] values = {1e16, 1, 1, 1, 1, 1, 1, 1};

        // Pairs are added first, so that only the partner of the great number is lost.
        assertThat(PairwiseSum.of(values)).isEqualTo(1e16 + 6);
    }

    @Test
    void addsEverything() {
        for (int count : new int[] {0, 7, 8, 9, 128, 129, 1000}) {
            double[] values =
                    IntStream.range(0, count).mapToDouble(i -> i / 7.0).toArray();

            assertThat(PairwiseSum.of(values)).isEqualTo(Arrays.stream(values).sum(), within(1e-9));
        }
    }
}

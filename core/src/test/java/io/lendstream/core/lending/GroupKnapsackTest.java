package io.lendstream.core.lending;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class GroupKnapsackTest {
    @Test
    void prefersTwoHalvesToOneWhole() {
        double[] job = {0, 1.0, 1.6};

        assertThat(GroupKnapsack.choose(List.of(job, job), 2)).containsExactly(1, 1);
    }

    @Test
    void neverTakesASizeThatIsNotAllowed() {
        double[] rigid = {0, Double.NEGATIVE_INFINITY, Double.NEGATIVE_INFINITY, 5};

        assertThat(GroupKnapsack.choose(List.of(rigid), 2)).containsExactly(0);
        assertThat(GroupKnapsack.choose(List.of(rigid), 3)).containsExactly(3);
    }

    @Property
    void isAsGoodAsTryingEverything(
            @ForAll @Size(min = 1, max = 4) List<@Size(min = 1, max = 4) List<@DoubleRange(max = 10) Double>> gains,
            @ForAll @IntRange(max = 8) int capacity) {
        List<double[]> values = gains.stream()
                .map(gain -> {
                    double[] value = new double[gain.size() + 1];
                    for (int w = 1; w < value.length; w++) {
                        value[w] = gain.get(w - 1);
                    }
                    return value;
                })
                .toList();

        int[] sizes = GroupKnapsack.choose(values, capacity);

        double value = 0;
        int used = 0;
        for (int i = 0; i < sizes.length; i++) {
            value += values.get(i)[sizes[i]];
            used += sizes[i];
        }
        assertThat(used).isLessThanOrEqualTo(capacity);
        assertThat(value).isCloseTo(best(values, 0, capacity), within(1e-9));
    }

    private static double best(List<double[]> values, int job, int room) {
        if (job == values.size()) {
            return 0;
        }
        double best = Double.NEGATIVE_INFINITY;
        for (int w = 0; w < values.get(job).length && w <= room; w++) {
            best = Math.max(best, values.get(job)[w] + best(values, job + 1, room - w));
        }
        return best;
    }
}

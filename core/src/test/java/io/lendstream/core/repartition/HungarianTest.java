package io.lendstream.core.repartition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class HungarianTest {
    @Property(tries = 500)
    void noOtherAssignmentCostsLess(
            @ForAll long seed, @ForAll @IntRange(min = 1, max = 5) int rows, @ForAll @IntRange(max = 2) int more) {
        double[][] costs = costs(new Random(seed), rows, rows + more);

        int[] exact = Hungarian.columns(costs);

        assertThat(Arrays.stream(exact).distinct()).hasSize(rows);
        assertThat(cost(costs, exact)).isCloseTo(cheapest(costs, 0, 0), within(1e-9));
    }

    @Property(tries = 200)
    void takingTheCheapestPairFirstGivesEachACutOfItsOwn(
            @ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int rows, @ForAll @IntRange(max = 9) int more) {
        double[][] costs = costs(new Random(seed), rows, rows + more);

        int[] greedy = Assignment.greedily(costs);

        assertThat(Arrays.stream(greedy).distinct()).hasSize(rows);
        assertThat(cost(costs, greedy)).isGreaterThanOrEqualTo(cost(costs, Hungarian.columns(costs)) - 1e-9);
    }

    private static double[][] costs(Random random, int rows, int columns) {
        double[][] costs = new double[rows][columns];
        for (double[] row : costs) {
            Arrays.setAll(row, column -> random.nextInt(2) == 0 ? random.nextInt(4) : random.nextGaussian());
        }
        return costs;
    }

    private static double cost(double[][] costs, int[] columns) {
        double sum = 0;
        for (int row = 0; row < columns.length; row++) {
            sum += costs[row][columns[row]];
        }
        return sum;
    }

    private static double cheapest(double[][] costs, int row, int taken) {
        if (row == costs.length) {
            return 0;
        }
        double least = Double.POSITIVE_INFINITY;
        for (int column = 0; column < costs[row].length; column++) {
            if ((taken & 1 << column) == 0) {
                least = Math.min(least, costs[row][column] + cheapest(costs, row + 1, taken | 1 << column));
            }
        }
        return least;
    }
}

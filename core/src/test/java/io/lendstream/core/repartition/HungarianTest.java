package io.lendstream.core.repartition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.seeds.RandomValues;
import io.lendstream.core.seeds.Seeds;
import java.util.Arrays;
import java.util.Random;

class HungarianTest {
    @Seeds(500)
    void noOtherAssignmentCostsLess(RandomValues values) {
        int rows = values.intBetween(1, 5);
        double[][] costs = costs(values.random(), rows, rows + values.intBetween(0, 2));

        int[] exact = Hungarian.columns(costs);

        assertThat(Arrays.stream(exact).distinct()).hasSize(rows);
        assertThat(cost(costs, exact)).isCloseTo(cheapest(costs, 0, 0), within(1e-9));
    }

    @Seeds(200)
    void takingTheCheapestPairFirstGivesEachACutOfItsOwn(RandomValues values) {
        int rows = values.intBetween(1, 40);
        double[][] costs = costs(values.random(), rows, rows + values.intBetween(0, 9));

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
